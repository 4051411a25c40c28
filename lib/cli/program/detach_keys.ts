const CTRL_P = 0x10;
const CTRL_Q = 0x11;

/** Looks for Ctrl-P Ctrl-Q in what is typed, as docker does. A Ctrl-P alone waits for the key after it. */
export class DetachKeys {
  #held = false;

  /** @returns What goes to the program, and whether the keys came; what was typed after them is dropped. */
  feed(typed: Uint8Array<ArrayBuffer>): { pass: Uint8Array<ArrayBuffer>; detached: boolean } {
    const pass: number[] = [];
    for (const byte of typed) {
      if (this.#held && byte === CTRL_Q) return { pass: new Uint8Array(pass), detached: true };
      if (this.#held) pass.push(CTRL_P);
      this.#held = byte === CTRL_P;
      if (!this.#held) pass.push(byte);
    }
    return { pass: new Uint8Array(pass), detached: false };
  }
}
