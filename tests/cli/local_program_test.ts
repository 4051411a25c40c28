import assert from "node:assert/strict";
import { localProgram } from "../../lib/cli/local_program.ts";

const ignore = Deno.build.os === "windows";

async function withPath<T>(path: string | undefined, act: () => Promise<T>): Promise<T> {
  const before = Deno.env.get("PATH");
  if (path === undefined) Deno.env.delete("PATH");
  else Deno.env.set("PATH", path);
  try {
    return await act();
  } finally {
    if (before === undefined) Deno.env.delete("PATH");
    else Deno.env.set("PATH", before);
  }
}

Deno.test({
  name: "localProgram finds the system's programs where there is no PATH",
  ignore,
  fn: async () => {
    const { success, stdout } = await withPath(
      undefined,
      () => localProgram("sh", { args: ["-c", 'echo "$OWN"'], env: { OWN: "kept" } }).output(),
    );
    assert.deepEqual([success, new TextDecoder().decode(stdout)], [true, "kept\n"]);
  },
});

Deno.test({
  name: "localProgram looks nowhere else than in PATH where there is one",
  ignore,
  fn: async () => {
    await assert.rejects(
      withPath("/nowhere", () => localProgram("sh", { args: ["-c", ":"] }).output()),
      Deno.errors.NotFound,
    );
  },
});
