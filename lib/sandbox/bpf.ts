/** Classic BPF as the kernel takes it for a seccomp filter: a few instructions, written with labels for their jumps. */

/** BPF_LD | BPF_W | BPF_ABS: loads 32 bits of `struct seccomp_data`. */
const LOAD = 0x20;
/** BPF_JMP | BPF_JEQ | BPF_K and BPF_JMP | BPF_JGE | BPF_K. */
const JUMP_IF_EQUAL = 0x15;
const JUMP_IF_AT_LEAST = 0x35;
/** BPF_ALU | BPF_AND | BPF_K. */
const AND = 0x54;
/** BPF_RET | BPF_K. */
const RETURN = 0x06;

/** `sizeof(struct sock_filter)`: 16 bits of code, 8 + 8 of jumps, 32 of constant. */
export const INSTRUCTION_BYTES = 8;
/** A jump counts the instructions that it leaves out, in 8 bits. */
const MAX_JUMP = 255;

interface Instruction {
  readonly code: number;
  readonly constant: number;
  /** Where to go if it is so; otherwise, and for all others, on to the next one. */
  readonly label?: string;
}

export class BpfProgram {
  readonly #instructions: Instruction[] = [];
  readonly #labels = new Map<string, number>();

  load(offset: number): this {
    return this.#add({ code: LOAD, constant: offset });
  }

  and(mask: number): this {
    return this.#add({ code: AND, constant: mask });
  }

  jumpIfEqual(constant: number, label: string): this {
    return this.#add({ code: JUMP_IF_EQUAL, constant, label });
  }

  /** Compares without signs. */
  jumpIfAtLeast(constant: number, label: string): this {
    return this.#add({ code: JUMP_IF_AT_LEAST, constant, label });
  }

  return(value: number): this {
    return this.#add({ code: RETURN, constant: value });
  }

  /** Names the instruction that comes next. */
  label(name: string): this {
    this.#labels.set(name, this.#instructions.length);
    return this;
  }

  /** @throws {RangeError} If a label is missing, lies behind or is more than 255 instructions away. */
  encode(): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(this.#instructions.length * INSTRUCTION_BYTES);
    const view = new DataView(bytes.buffer);
    this.#instructions.forEach(({ code, constant, label }, index) => {
      view.setUint16(index * INSTRUCTION_BYTES, code, true);
      if (label !== undefined) view.setUint8(index * INSTRUCTION_BYTES + 2, this.#distance(index, label));
      view.setUint32(index * INSTRUCTION_BYTES + 4, constant, true);
    });
    return bytes;
  }

  #add(instruction: Instruction): this {
    this.#instructions.push(instruction);
    return this;
  }

  #distance(from: number, label: string): number {
    const distance = (this.#labels.get(label) ?? NaN) - from - 1;
    if (!(distance >= 0 && distance <= MAX_JUMP)) throw new RangeError(`no jump from ${from} to ${label}`);
    return distance;
  }
}
