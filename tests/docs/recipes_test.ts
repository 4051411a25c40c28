import assert from "node:assert/strict";

const PROJECT = new URL("../../", import.meta.url);

Deno.test("README's recipes for images are those that are tested", async () => {
  const readme = await Deno.readTextFile(new URL("README.md", PROJECT));
  const shown = [...readme.matchAll(/^```dockerfile\n([^]*?)^```$/gm)].map(([, recipe]) => recipe!);
  const tested = ["debian", "distroless", "alpine"].map((name) =>
    Deno.readTextFileSync(new URL(`packaging/docker/${name}.Dockerfile`, PROJECT)).replace(/^#.*\n/gm, "")
  );
  assert.deepEqual(shown, tested);
});

Deno.test("README's way to install the unit is the unit's own", async () => {
  const readme = await Deno.readTextFile(new URL("README.md", PROJECT));
  const unit = await Deno.readTextFile(new URL("packaging/exec-server.service", PROJECT));
  const steps = /^```sh\n(useradd [^]*?)^```$/m.exec(readme)?.[1]?.trimEnd().split("\n") ?? [];
  assert.equal(steps.length, 5);
  for (const step of steps) assert.ok(unit.includes(`#   ${step}\n`), step);
});
