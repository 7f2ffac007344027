// Encoded values of episodes (kernel/worlds/episode/values.py) as people have them: as `shown` there does.

const ITEMS_MAX = 64; // items of an array that are shown

// By type of the items: the method of DataView that reads one, and its size in bytes.
const ITEMS = {
  b1: ["getUint8", 1], i1: ["getInt8", 1], u1: ["getUint8", 1], i2: ["getInt16", 2], u2: ["getUint16", 2],
  i4: ["getInt32", 4], u4: ["getUint32", 4], i8: ["getBigInt64", 8], u8: ["getBigUint64", 8],
  f2: ["half", 2], f4: ["getFloat32", 4], f8: ["getFloat64", 8],
};
const NAMES = { i: "int", u: "uint", f: "float", c: "complex" };

function half(view, at) {
  const word = view.getUint16(at, true);
  const [exponent, fraction] = [(word >> 10) & 0x1f, word & 0x3ff];
  const size = exponent === 0x1f ? (fraction ? NaN : Infinity) : exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024) : 2 ** -24 * fraction;
  return word & 0x8000 ? -size : size;
}

// A number; those that JSON lacks as text. Integers of 64 bits come as BigInt, and stay so where a number cannot hold them.
function numberOf(value) {
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  if (Number.isNaN(value)) return "nan";
  return Math.abs(value) === Infinity ? `${value < 0 ? "-" : ""}inf` : value;
}

function arrayOf(dtype, shape, data) {
  const kind = dtype.slice(1);
  const count = shape.reduce((product, length) => product * length, 1);
  if (ITEMS[kind] === undefined || count > ITEMS_MAX) {
    const name = NAMES[dtype[1]] === undefined ? dtype : `${NAMES[dtype[1]]}${8 * Number(dtype.slice(2))}`;
    return shape.length ? `${name}[${shape.join(", ")}]` : `<${name}>`;
  }
  const [method, size] = ITEMS[kind];
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const read = (index) => (method === "half" ? half(view, index * size) : view[method](index * size, true));
  let items = Array.from({ length: count }, (_, index) => (kind === "b1" ? read(index) !== 0 : numberOf(read(index))));
  for (const length of shape.slice(1).toReversed()) {
    const rows = [];
    for (let at = 0; at < items.length; at += length || 1) rows.push(items.slice(at, at + length));
    items = rows;
  }
  return shape.length ? items : items[0];
}

const keyOf = (key) => {
  const shown = encodedShown(key);
  if (shown === null) return "None";
  return typeof shown === "boolean" ? (shown ? "True" : "False") : String(shown);
};

export function encodedShown(value) {
  if (typeof value === "number") return numberOf(value);
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  if (!Array.isArray(value)) return value;
  const [form, ...rest] = value;
  if (form === "array") return arrayOf(...rest);
  if (form === "scalar") return arrayOf(rest[0], [], rest[1]);
  if (form === "tuple" || form === "list") return rest[0].map(encodedShown);
  if (form === "dict") return Object.fromEntries(rest[0].map(([key, item]) => [keyOf(key), encodedShown(item)]));
  return form === "int" ? BigInt(rest[0]) : `<${rest[0]}>`;
}
