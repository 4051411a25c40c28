import assert from "node:assert/strict";
import { canonicalize } from "../../../lib/fs/linux/canonicalize.ts";

const ignore = Deno.build.os !== "linux";
const path = (length: number) => new TextEncoder().encode(`/${"no/".repeat(length)}`.slice(0, length));

Deno.test({ name: "canonicalize refuses a path that the system's calls refuse for its length", ignore }, () => {
  assert.throws(() => canonicalize(path(4095)), { message: "No such file or directory (os error 2)" });
  assert.throws(() => canonicalize(path(4096)), { message: "Filename too long (os error 36)" });
});
