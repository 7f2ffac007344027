// Seeded XXH3-64, the hash that chains a journal's commits (github.com/Cyan4973/xxHash, its
// specification). Short inputs and seeds are BigInt, which reads like the specification; the loop
// over stripes of long inputs works on 32-bit halves, which is several times faster.

export const xxh3 = (() => {
  const MASK = (1n << 64n) - 1n;
  const P32_1 = 0x9e3779b1n, P32_2 = 0x85ebca77n, P32_3 = 0xc2b2ae3dn;
  const P64_1 = 0x9e3779b185ebca87n, P64_2 = 0xc2b2ae3d27d4eb4fn, P64_3 = 0x165667b19e3779f9n;
  const P64_4 = 0x85ebca77c2b2ae63n, P64_5 = 0x27d4eb2f165667c5n;
  const MIX_1 = 0x165667919e3779f9n, MIX_2 = 0x9fb21c651e98df25n;

  // The default secret: 192 bytes, part of the specification.
  const SECRET = new DataView(Uint8Array.from(
    ("b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221" +
      "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8a8" +
      "fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb17" +
      "0ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e")
      .match(/../g), (pair) => parseInt(pair, 16)).buffer);

  const read64 = (view, at) => view.getBigUint64(at, true);
  const read32 = (view, at) => BigInt(view.getUint32(at, true));
  const rotated = (word, by) => ((word << by) | (word >> (64n - by))) & MASK;

  function folded(a, b) {
    const product = (a & MASK) * (b & MASK);
    return (product & MASK) ^ (product >> 64n);
  }

  function avalanche(hash) {
    hash &= MASK;
    hash ^= hash >> 37n;
    hash = (hash * MIX_1) & MASK;
    return hash ^ (hash >> 32n);
  }

  function avalancheShort(hash) {
    hash &= MASK;
    hash ^= hash >> 33n;
    hash = (hash * P64_2) & MASK;
    hash ^= hash >> 29n;
    hash = (hash * P64_3) & MASK;
    return hash ^ (hash >> 32n);
  }

  const swapped32 = (word) =>
    ((word & 0xffn) << 24n) | ((word & 0xff00n) << 8n) | ((word >> 8n) & 0xff00n) | (word >> 24n);
  const swapped64 = (word) =>
    (swapped32(word & 0xffffffffn) << 32n) | swapped32((word >> 32n) & 0xffffffffn);

  function upTo16(view, length, seed) {
    if (length > 8) {
      const low = read64(view, 0) ^ (((read64(SECRET, 24) ^ read64(SECRET, 32)) + seed) & MASK);
      const high =
        read64(view, length - 8) ^ (((read64(SECRET, 40) ^ read64(SECRET, 48)) - seed) & MASK);
      return avalanche(BigInt(length) + swapped64(low) + high + folded(low, high));
    }
    if (length >= 4) {
      const mixed = seed ^ (swapped32(seed & 0xffffffffn) << 32n);
      const flip = ((read64(SECRET, 8) ^ read64(SECRET, 16)) - mixed) & MASK;
      let hash = (read32(view, length - 4) + (read32(view, 0) << 32n)) ^ flip;
      hash ^= rotated(hash, 49n) ^ rotated(hash, 24n);
      hash = (hash * MIX_2) & MASK;
      hash ^= (hash >> 35n) + BigInt(length);
      hash = (hash * MIX_2) & MASK;
      return hash ^ (hash >> 28n);
    }
    if (length) {
      const [first, middle, last] = [0, length >> 1, length - 1].map((at) => view.getUint8(at));
      const joined = BigInt(((first << 16) | (middle << 24) | last | (length << 8)) >>> 0);
      return avalancheShort(joined ^ (((read32(SECRET, 0) ^ read32(SECRET, 4)) + seed) & MASK));
    }
    return avalancheShort(seed ^ read64(SECRET, 56) ^ read64(SECRET, 64));
  }

  function mixed16(view, at, secretAt, seed) {
    return folded(
      read64(view, at) ^ ((read64(SECRET, secretAt) + seed) & MASK),
      read64(view, at + 8) ^ ((read64(SECRET, secretAt + 8) - seed) & MASK),
    );
  }

  function upTo128(view, length, seed) {
    let hash = BigInt(length) * P64_1;
    for (let pair = (length - 1) >> 5; pair >= 0; pair -= 1) {
      hash += mixed16(view, 16 * pair, 32 * pair, seed);
      hash += mixed16(view, length - 16 * (pair + 1), 32 * pair + 16, seed);
    }
    return avalanche(hash);
  }

  function upTo240(view, length, seed) {
    let hash = BigInt(length) * P64_1;
    for (let at = 0; at < 128; at += 16) hash += mixed16(view, at, at, seed);
    hash = avalanche(hash);
    for (let at = 128; at + 16 <= length; at += 16) hash += mixed16(view, at, at - 128 + 3, seed);
    return avalanche(hash + mixed16(view, length - 16, 136 - 17, seed));
  }

  function secretOf(seed) {
    const secret = new DataView(new ArrayBuffer(192));
    for (let at = 0; at < 192; at += 16) {
      secret.setBigUint64(at, (read64(SECRET, at) + seed) & MASK, true);
      secret.setBigUint64(at + 8, (read64(SECRET, at + 8) - seed) & MASK, true);
    }
    return secret;
  }

  // One stripe of 64 bytes into the eight accumulators, each two 32-bit halves (low, high):
  // lane ^ 1 gains the data, the lane the product of the halves of data ^ secret.
  function accumulate(lows, highs, view, at, secret, secretAt) {
    for (let lane = 0; lane < 8; lane += 1) {
      const low = view.getUint32(at + 8 * lane, true);
      const high = view.getUint32(at + 8 * lane + 4, true);
      const a = (low ^ secret.getUint32(secretAt + 8 * lane, true)) >>> 0;
      const b = (high ^ secret.getUint32(secretAt + 8 * lane + 4, true)) >>> 0;
      const upper = a * (b >>> 16); // under 2^48, so exact
      const lower = a * (b & 0xffff) + (upper % 0x10000) * 0x10000;
      const sum = lows[lane] + (lower % 0x100000000);
      lows[lane] = sum;
      highs[lane] +=
        Math.floor(upper / 0x10000) + Math.floor(lower / 0x100000000) + (sum > 0xffffffff ? 1 : 0);
      const other = lows[lane ^ 1] + low;
      lows[lane ^ 1] = other;
      highs[lane ^ 1] += high + (other > 0xffffffff ? 1 : 0);
    }
  }

  function scramble(lows, highs, secret) {
    for (let lane = 0; lane < 8; lane += 1) {
      let word = (BigInt(highs[lane]) << 32n) | BigInt(lows[lane]);
      word ^= word >> 47n;
      word = ((word ^ read64(secret, 128 + 8 * lane)) * P32_1) & MASK;
      lows[lane] = Number(word & 0xffffffffn);
      highs[lane] = Number(word >> 32n);
    }
  }

  function long(view, length, seed) {
    const secret = secretOf(seed);
    const start = [P32_3, P64_1, P64_2, P64_3, P64_4, P32_2, P64_5, P32_1];
    const lows = Uint32Array.from(start, (word) => Number(word & 0xffffffffn));
    const highs = Uint32Array.from(start, (word) => Number(word >> 32n));
    const blocks = Math.floor((length - 1) / 1024);
    for (let block = 0; block < blocks; block += 1) {
      for (let stripe = 0; stripe < 16; stripe += 1) {
        accumulate(lows, highs, view, 1024 * block + 64 * stripe, secret, 8 * stripe);
      }
      scramble(lows, highs, secret);
    }
    const stripes = Math.floor((length - 1 - 1024 * blocks) / 64);
    for (let stripe = 0; stripe < stripes; stripe += 1) {
      accumulate(lows, highs, view, 1024 * blocks + 64 * stripe, secret, 8 * stripe);
    }
    accumulate(lows, highs, view, length - 64, secret, 192 - 64 - 7);
    const word = (lane) => (BigInt(highs[lane]) << 32n) | BigInt(lows[lane]);
    let hash = BigInt(length) * P64_1;
    for (let pair = 0; pair < 4; pair += 1) {
      hash += folded(
        word(2 * pair) ^ read64(secret, 11 + 16 * pair),
        word(2 * pair + 1) ^ read64(secret, 19 + 16 * pair),
      );
    }
    return avalanche(hash);
  }

  // The hash of bytes (a Uint8Array) under a seed, both 64-bit words as BigInt.
  return (bytes, seed = 0n) => {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const length = bytes.byteLength;
    if (length <= 16) return upTo16(view, length, seed);
    if (length <= 128) return upTo128(view, length, seed);
    return length <= 240 ? upTo240(view, length, seed) : long(view, length, seed);
  };
})();
