import assert from "node:assert/strict";
import fc from "fast-check";
import { networkFilter } from "../../lib/sandbox/seccomp.ts";
import type { Machine } from "../../lib/sandbox/syscall_numbers.ts";
import { runFilter } from "./support/bpf_interpreter.ts";

const ALLOW = 0x7fff0000;
const EPERM = 0x00050001;
const KILL = 0x80000000;

/** Written from the kernel's tables, not from ours: socket and socketpair, what is always refused, what the network adds. */
const MACHINES: Record<Machine, { arch: number; makesSockets: number[]; always: number[]; network: number[] }> = {
  x86_64: {
    arch: 0xc000003e,
    makesSockets: [41, 53],
    always: [425, 426, 427, 248, 250],
    network: [42, 43, 44, 48, 49, 50, 51, 52, 54, 55, 101, 249, 288, 299, 307, 310, 311, 438],
  },
  aarch64: {
    arch: 0xc00000b7,
    makesSockets: [198, 199],
    always: [425, 426, 427, 217, 219],
    network: [200, 201, 202, 203, 204, 205, 206, 208, 209, 210, 117, 218, 242, 243, 269, 270, 271, 438],
  },
};
const FOREIGN = [0x40000003, 0x40000028, 0xc00000f3, 0x80000015, 0, 0xffffffff];
const networks = ["restricted", "enabled"] as const;

for (const machine of ["x86_64", "aarch64"] as const) {
  const { arch, makesSockets, always, network: usesNetwork } = MACHINES[machine];

  Deno.test(`${machine}: with a restricted network only stream sockets of the Unix family can be made`, () => {
    const filter = networkFilter(machine, "restricted");
    for (const nr of makesSockets) {
      const make = (family: number, type: number) =>
        runFilter(filter, { nr, arch, args: [BigInt(family), BigInt(type)] });
      for (const flags of [0, 0o2000000, 0o4000, 0o2004000]) {
        assert.equal(make(1, 1 | flags), ALLOW, "stream");
        assert.equal(make(1, 5 | flags), ALLOW, "packets in sequence");
        assert.equal(make(1, 2 | flags), EPERM, "datagrams");
        assert.equal(make(1, 3 | flags), EPERM, "raw");
        for (const family of [0, 2, 10, 16, 17, 31, 38, 40, -1]) assert.equal(make(family, 1 | flags), EPERM);
      }
    }
    for (const nr of [...usesNetwork, ...always]) assert.equal(runFilter(filter, { nr, arch }), EPERM, String(nr));
  });

  Deno.test(`${machine}: with an enabled network only sockets of virtual machines, io_uring and keys are refused`, () => {
    const filter = networkFilter(machine, "enabled");
    for (const nr of makesSockets) {
      for (const family of [0, 1, 2, 10, 16, 17, 38]) {
        assert.equal(runFilter(filter, { nr, arch, args: [BigInt(family), 2n] }), ALLOW);
      }
      assert.equal(runFilter(filter, { nr, arch, args: [40n, 1n] }), EPERM);
    }
    for (const nr of usesNetwork) assert.equal(runFilter(filter, { nr, arch }), ALLOW, String(nr));
    for (const nr of always) assert.equal(runFilter(filter, { nr, arch }), EPERM, String(nr));
  });

  for (const network of networks) {
    Deno.test(`${machine}, ${network}: the numbers of another architecture kill, whatever is called`, () => {
      const filter = networkFilter(machine, network);
      const other = Object.values(MACHINES).map((one) => one.arch).filter((one) => one !== arch);
      for (const foreign of [...FOREIGN, ...other]) {
        for (const nr of [0, 41, 198, 39, 0x40000029, 0xffffffff]) {
          assert.equal(runFilter(filter, { nr, arch: foreign }), KILL);
        }
      }
    });

    Deno.test(`${machine}, ${network}: every other call is allowed, whatever its arguments are`, () => {
      const filter = networkFilter(machine, network);
      const named = new Set([...makesSockets, ...always, ...(network === "restricted" ? usesNetwork : [])]);
      for (let nr = 0; nr < 600; nr++) {
        if (!named.has(nr)) assert.equal(runFilter(filter, { nr, arch, args: [2n, 2n] }), ALLOW, String(nr));
      }
      const random = {
        nr: fc.nat(0x3fffffff),
        args: fc.array(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), { maxLength: 6 }),
      };
      fc.assert(fc.property(fc.record(random), ({ nr, args }) => {
        fc.pre(!named.has(nr));
        return runFilter(filter, { nr, arch, args }) === ALLOW;
      }));
    });

    Deno.test(`${machine}, ${network}: the upper half of an int argument changes nothing`, () => {
      const filter = networkFilter(machine, network);
      const number = fc.constantFrom(...makesSockets, ...always, ...usesNetwork);
      const low = fc.tuple(fc.nat(64), fc.nat(8));
      const high = fc.bigInt({ min: 0n, max: 2n ** 32n - 1n });
      fc.assert(fc.property(number, low, high, high, (nr, [family, type], one, other) => {
        const args = [BigInt(family), BigInt(type)];
        const dressed = [args[0]! | one << 32n, args[1]! | other << 32n];
        return runFilter(filter, { nr, arch, args }) === runFilter(filter, { nr, arch, args: dressed });
      }));
    });
  }
}

Deno.test("x86_64: every call by x32's numbers is refused, also the harmless ones", () => {
  for (const network of networks) {
    const filter = networkFilter("x86_64", network);
    for (const nr of [0x40000000, 0x40000029, 0x40000027, 0x400001ab, 0x7fffffff, 0x80000000, 0xffffffff]) {
      assert.equal(runFilter(filter, { nr, arch: 0xc000003e, args: [1n, 1n] }), EPERM);
    }
  }
});
