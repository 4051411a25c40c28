import assert from "node:assert/strict";
import { executable } from "../../lib/sandbox/executable.ts";

/** An ELF file of 64 bits with one segment of this type. */
function elf(type: number, interpreter: string, offset = 120): string {
  const bytes = new DataView(new ArrayBuffer(256));
  const put = (text: string, at: number) => [...text].forEach((unit, i) => bytes.setUint8(at + i, unit.charCodeAt(0)));
  put("\x7fELF\x02\x01\x01", 0);
  bytes.setBigUint64(32, 64n, true);
  bytes.setUint16(54, 56, true);
  bytes.setUint16(56, 1, true);
  bytes.setUint32(64, type, true);
  bytes.setBigUint64(72, BigInt(offset), true);
  bytes.setBigUint64(96, BigInt(interpreter.length + 1), true);
  put(interpreter, 120);
  return String.fromCharCode(...new Uint8Array(bytes.buffer));
}

Deno.test("executable finds what a script is run by", () => {
  const by = (start: string) => executable(start);
  assert.deepEqual(by("#!/bin/sh\necho"), { kind: "needs", interpreter: "/bin/sh" });
  assert.deepEqual(by("#! \t/usr/bin/env -S sh -e\n"), { kind: "needs", interpreter: "/usr/bin/env" });
  assert.deepEqual(by("#!/bin/sh"), { kind: "needs", interpreter: "/bin/sh" });
  assert.deepEqual(by("#!\n/bin/sh"), { kind: "unknown" });
});

Deno.test("executable finds what a program is linked by", () => {
  assert.deepEqual(executable(elf(3, "/lib64/ld.so")), { kind: "needs", interpreter: "/lib64/ld.so" });
  assert.deepEqual(executable(elf(1, "/lib64/ld.so")), { kind: "complete" });
  assert.deepEqual(executable(elf(3, "/lib64/ld.so", 10_000)), { kind: "complete" });
  assert.deepEqual(executable(elf(3, "/lib64/ld.so").slice(0, 80)), { kind: "complete" });
  assert.deepEqual(executable("\x7fELF\x01"), { kind: "complete" });
  assert.deepEqual(executable("\x7fELF"), { kind: "complete" });
});

Deno.test("executable knows no other kinds", () => {
  for (const start of ["", "echo", " #!/bin/sh", "\x7fEL"]) assert.deepEqual(executable(start), { kind: "unknown" });
});
