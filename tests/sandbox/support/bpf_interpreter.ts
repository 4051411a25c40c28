/** Runs a seccomp filter as the kernel would, and refuses what its checker refuses (kernel/seccomp.c, net/core/filter.c). */

/** What a filter is told of a system call. */
export interface SeccompData {
  readonly nr: number;
  readonly arch: number;
  readonly args?: readonly bigint[];
}

const DATA_BYTES = 64;

/** @returns The action, without sign. */
export function runFilter(filter: Uint8Array<ArrayBuffer>, { nr, arch, args = [] }: SeccompData): number {
  const data = new DataView(new ArrayBuffer(DATA_BYTES));
  data.setUint32(0, nr, true);
  data.setUint32(4, arch, true);
  args.forEach((value, index) => data.setBigUint64(16 + 8 * index, BigInt.asUintN(64, value), true));
  const program = new DataView(filter.buffer, filter.byteOffset, filter.byteLength);
  const count = filter.byteLength / 8;
  let accumulator = 0;
  for (let at = 0; at < count; at++) {
    const code = program.getUint16(at * 8, true);
    const onTrue = program.getUint8(at * 8 + 2);
    const onFalse = program.getUint8(at * 8 + 3);
    const constant = program.getUint32(at * 8 + 4, true);
    switch (code) {
      case 0x20:
        if (constant % 4 !== 0 || constant >= DATA_BYTES) throw new Error(`load of ${constant} at ${at}`);
        accumulator = data.getUint32(constant, true);
        break;
      case 0x54:
        accumulator = (accumulator & constant) >>> 0;
        break;
      case 0x15:
        at += accumulator === constant ? onTrue : onFalse;
        break;
      case 0x35:
        at += accumulator >= constant ? onTrue : onFalse;
        break;
      case 0x06:
        return constant;
      default:
        throw new Error(`code ${code} at ${at}`);
    }
  }
  throw new Error("the program ran past its end");
}
