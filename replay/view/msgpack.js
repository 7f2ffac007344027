// Canonical msgpack, read and written, as far as journals use it. Integers that JavaScript numbers
// cannot hold exactly are BigInt.

export const unpack = (() => {
  const TEXT = new TextDecoder("utf-8", { fatal: true });

  const exact = (word) =>
    word >= BigInt(Number.MIN_SAFE_INTEGER) && word <= BigInt(Number.MAX_SAFE_INTEGER)
      ? Number(word)
      : word;

  class Reader {
    constructor(bytes, at) {
      this.bytes = bytes;
      this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      this.at = at;
    }

    number(size, method) {
      const value = this.view[method](this.at);
      this.at += size;
      return value;
    }

    text(length) {
      if (this.at + length > this.bytes.length) throw new RangeError("text beyond the end");
      const text = TEXT.decode(this.bytes.subarray(this.at, this.at + length));
      this.at += length;
      return text;
    }

    bin(length) {
      if (this.at + length > this.bytes.length) throw new RangeError("bytes beyond the end");
      this.at += length;
      return this.bytes.subarray(this.at - length, this.at);
    }

    array(length) {
      const items = [];
      for (let index = 0; index < length; index += 1) items.push(this.value());
      return items;
    }

    map(length) {
      const pairs = [];
      for (let index = 0; index < length; index += 1) pairs.push([this.value(), this.value()]);
      return Object.fromEntries(pairs); // all own properties, whatever their names
    }

    value() {
      const head = this.number(1, "getUint8");
      if (head < 0x80) return head;
      if (head < 0x90) return this.map(head & 0x0f);
      if (head < 0xa0) return this.array(head & 0x0f);
      if (head < 0xc0) return this.text(head & 0x1f);
      if (head >= 0xe0) return head - 0x100;
      switch (head) {
        case 0xc0: return null;
        case 0xc2: return false;
        case 0xc3: return true;
        case 0xc4: return this.bin(this.number(1, "getUint8"));
        case 0xc5: return this.bin(this.number(2, "getUint16"));
        case 0xc6: return this.bin(this.number(4, "getUint32"));
        case 0xcb: return this.number(8, "getFloat64");
        case 0xcc: return this.number(1, "getUint8");
        case 0xcd: return this.number(2, "getUint16");
        case 0xce: return this.number(4, "getUint32");
        case 0xcf: return exact(this.number(8, "getBigUint64"));
        case 0xd0: return this.number(1, "getInt8");
        case 0xd1: return this.number(2, "getInt16");
        case 0xd2: return this.number(4, "getInt32");
        case 0xd3: return exact(this.number(8, "getBigInt64"));
        case 0xd9: return this.text(this.number(1, "getUint8"));
        case 0xda: return this.text(this.number(2, "getUint16"));
        case 0xdb: return this.text(this.number(4, "getUint32"));
        case 0xdc: return this.array(this.number(2, "getUint16"));
        case 0xdd: return this.array(this.number(4, "getUint32"));
        case 0xde: return this.map(this.number(2, "getUint16"));
        case 0xdf: return this.map(this.number(4, "getUint32"));
        default: throw new RangeError(`0x${head.toString(16)} is no head of canonical msgpack`);
      }
    }
  }

  // The value at an offset of bytes, and the offset after it: [value, end].
  return (bytes, at = 0) => {
    const reader = new Reader(bytes, at);
    const value = reader.value();
    return [value, reader.at];
  };
})();

export const pack = (() => {
  const TEXT = new TextEncoder();

  class Writer {
    constructor() {
      this.bytes = new Uint8Array(256);
      this.view = new DataView(this.bytes.buffer);
      this.size = 0;
    }

    room(count) {
      if (this.size + count <= this.bytes.length) return;
      const larger = new Uint8Array(2 * (this.size + count));
      larger.set(this.bytes.subarray(0, this.size));
      this.bytes = larger;
      this.view = new DataView(larger.buffer);
    }

    put(head, size, method, value) {
      this.room(size + 1);
      this.view.setUint8(this.size, head);
      if (size) this.view[method](this.size + 1, value);
      this.size += size + 1;
    }

    integer(value) {
      if (value >= 0) {
        if (value < 0x80) this.put(value, 0);
        else if (value < 0x100) this.put(0xcc, 1, "setUint8", value);
        else if (value < 0x10000) this.put(0xcd, 2, "setUint16", value);
        else if (value < 0x100000000) this.put(0xce, 4, "setUint32", value);
        else this.put(0xcf, 8, "setBigUint64", BigInt(value));
      } else if (value >= -0x20) this.put(0x100 + value, 0);
      else if (value >= -0x80) this.put(0xd0, 1, "setInt8", value);
      else if (value >= -0x8000) this.put(0xd1, 2, "setInt16", value);
      else if (value >= -0x80000000) this.put(0xd2, 4, "setInt32", value);
      else this.put(0xd3, 8, "setBigInt64", BigInt(value));
    }

    // Lengths of text (from 0xa0, 31 at most, then 0xd9 ..) and of arrays (from 0x90, 15, 0xdc ..).
    length(count, short, most, wide) {
      if (count <= most) this.put(short | count, 0);
      else if (wide === 0xd9 && count < 0x100) this.put(0xd9, 1, "setUint8", count);
      else if (count < 0x10000) this.put(wide === 0xd9 ? 0xda : 0xdc, 2, "setUint16", count);
      else this.put(wide === 0xd9 ? 0xdb : 0xdd, 4, "setUint32", count);
    }

    value(value) {
      if (value === null) this.put(0xc0, 0);
      else if (value === false || value === true) this.put(value ? 0xc3 : 0xc2, 0);
      else if (Number.isSafeInteger(value)) this.integer(value);
      else if (typeof value === "number") this.put(0xcb, 8, "setFloat64", value);
      else if (typeof value === "string") {
        const text = TEXT.encode(value);
        this.length(text.length, 0xa0, 31, 0xd9);
        this.room(text.length);
        this.bytes.set(text, this.size);
        this.size += text.length;
      } else {
        this.length(value.length, 0x90, 15, 0xdc);
        for (const item of value) this.value(item);
      }
    }
  }

  // The canonical bytes of null, booleans, numbers, text and arrays of these; a whole number is an
  // integer.
  return (value) => {
    const writer = new Writer();
    writer.value(value);
    return writer.bytes.subarray(0, writer.size);
  };
})();
