// Reads a journal by the grammar in kernel/README.md: every checksum is computed again, every event is
// decoded by the schemas in the page. Errors name the offset.
import { encodedShown } from "./encoded.js";
import { pack, unpack } from "./msgpack.js";
import { xxh3 } from "./xxh3.js";

export const [START, UNIT, , FORK] = [0, 1, 2, 3];

const hex = (word) => word.toString(16).padStart(16, "0");

// The bytes of text in base64.
export function bytesOf(base64) {
  try {
    return Uint8Array.from(atob(base64.trim()), (character) => character.charCodeAt(0));
  } catch {
    throw new Error("its base64 cannot be read");
  }
}

// The number of bytes of the header, and its checksum.
function readHeader(bytes) {
  try {
    const [fields, end] = unpack(bytes);
    const found = new DataView(bytes.buffer, bytes.byteOffset + end - 8, 8).getBigUint64(0);
    if (fields[0] === "goldrush" && xxh3(bytes.subarray(0, end - 9)) === found) return [end, found];
  } catch (error) {
    if (!(error instanceof RangeError || error instanceof TypeError)) throw error; // not msgpack at all
  }
  throw new Error("the header does not hold, at byte 0");
}

// The commits of a piece of a journal, one after the other: {kind, unit, digest, blocks, setup, offset}.
// `offset` is the piece's offset in the file, `before` the checksum before it (null: it begins with the
// header). Throws at the first commit that does not hold.
export function* readCommits(bytes, offset, before) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let [at, checksum] = before === null ? readHeader(bytes) : [0, before];
  while (at < bytes.length) {
    const where = `at byte ${offset + at}`;
    if (at + 11 > bytes.length) throw new Error(`the bytes end within a commit, ${where}`);
    const check = Number(xxh3(bytes.subarray(at, at + 6), checksum) & 0xffffffffn);
    if (view.getUint32(at + 7) !== check) throw new Error(`the length of the commit ${where} does not hold`);
    const end = at + 11 + view.getUint32(at + 2) + 9;
    if (end > bytes.length) throw new Error(`the bytes end within a commit, ${where}`);
    checksum = xxh3(bytes.subarray(at, end - 9), checksum);
    const found = view.getBigUint64(end - 8);
    if (found !== checksum) {
      throw new Error(`expected checksum ${hex(checksum)}, found ${hex(found)}, ${where}`);
    }
    yield { ...commitOf(unpack(bytes, at + 11)[0]), offset: offset + at };
    at = end;
  }
}

function commitOf(body) {
  const [kind, second, third, ...rest] = body;
  if (kind === START) return { kind, unit: 0, setup: second, digest: third, blocks: [] };
  if (kind === FORK) return { kind, unit: second, setup: third, digest: rest[0], blocks: [] };
  return { kind, unit: second, digest: third ?? null, blocks: rest };
}

// A value in its logical form, by the form that its kind declares (kernel/shape.py, Kind.form).
function shownAs(form, value, schemas) {
  if (form === null) return value;
  const [name, inner] = form;
  if (name === "optional") return value === null ? null : shownAs(inner, value, schemas);
  if (name === "name") return inner[value];
  if (name === "word") return hex(BigInt(value));
  if (name === "encoded") return encodedShown(value);
  if (name === "list") return value.map((item) => shownAs(inner, item, schemas));
  if (name === "row") return value.map((item, index) => shownAs(inner[index], item, schemas));
  const [index, code, row] = value; // "event"
  return { index, ...eventOf(schemas[code], row, schemas) };
}

function eventOf([name, , fields], row, schemas) {
  const event = { event: name };
  fields.forEach(([field, form], index) => {
    event[field] = shownAs(form, row[index], schemas);
  });
  return event;
}

// The events of blocks in their logical form, in order; `is_input` distinguishes submissions from derived
// events.
export function eventsOf(blocks, schemas) {
  const events = [];
  for (const block of blocks) {
    for (const [code, rows] of block) {
      for (const row of rows) {
        events.push({ ...eventOf(schemas[code], row, schemas), is_input: schemas[code][1] });
      }
    }
  }
  return events;
}

// The fingerprint of plain values, 64 bits in hex, as by kernel.codec.fingerprint.
export function printOf(facts) {
  return hex(xxh3(pack(facts)));
}
