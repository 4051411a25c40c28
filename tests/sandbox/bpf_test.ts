import assert from "node:assert/strict";
import { BpfProgram } from "../../lib/sandbox/bpf.ts";
import { runFilter } from "./support/bpf_interpreter.ts";

Deno.test("BpfProgram lays instructions out as struct sock_filter", () => {
  const bytes = new BpfProgram().load(4).jumpIfEqual(0xc000003e, "end").return(0x80000000).label("end").return(1)
    .encode();
  assert.equal(bytes.toHex(), "2000000004000000" + "150001003e0000c0" + "0600000000000080" + "0600000001000000");
});

Deno.test("BpfProgram jumps where it is so, and goes on where it is not", () => {
  const filter = new BpfProgram().load(0).jumpIfAtLeast(0x80000000, "big").and(0xf).jumpIfEqual(3, "three").return(1)
    .label("three").return(3).label("big").return(9).encode();
  const results = [0, 3, 0x13, 0x7fffffff, 0x80000000, 0xffffffff].map((nr) => runFilter(filter, { nr, arch: 0 }));
  assert.deepEqual(results, [1, 3, 3, 1, 9, 9]);
});

Deno.test("BpfProgram refuses jumps to nowhere, backwards and too far", () => {
  assert.throws(() => new BpfProgram().jumpIfEqual(1, "nowhere").return(0).encode(), RangeError);
  assert.throws(() => new BpfProgram().label("back").jumpIfEqual(1, "back").return(0).encode(), RangeError);
  const far = (distance: number) => {
    const program = new BpfProgram().jumpIfEqual(1, "far");
    for (let count = 0; count < distance; count++) program.load(0);
    return program.label("far").return(0);
  };
  assert.equal(far(255).encode()[2], 255);
  assert.throws(() => far(256).encode(), RangeError);
});
