import assert from "node:assert/strict";
import { lazily } from "../lib/lazily.ts";
import { canUnshare } from "./program/executable_box.ts";

const ignore = Deno.build.os !== "linux";

Deno.test("lazily loads once, when it is first asked, and again after a failure", async () => {
  let loads = 0;
  const load = lazily(() => ++loads === 1 ? Promise.reject(new Error("not there")) : Promise.resolve(loads));
  assert.equal(loads, 0);
  await assert.rejects(load(), { message: "not there" });
  assert.deepEqual(await Promise.all([load(), load(), load()]), [2, 2, 2]);
  assert.equal(loads, 2);
});

Deno.test(
  "lazily refuses to load where there are no descriptors, which would end the runtime",
  { ignore },
  async () => {
    const code = `
    import { lazily } from ${JSON.stringify(new URL("../lib/lazily.ts", import.meta.url).href)};
    const load = lazily(() => import(${JSON.stringify(new URL("../lib/base64.ts", import.meta.url).href)}));
    const taken = [];
    try {
      for (;;) taken.push(Deno.openSync("/dev/null"));
    } catch { /* none is left */ }
    const refusal = await load().catch((error) => error.message);
    for (const file of taken) file.close();
    console.log(refusal, typeof (await load()).encodeBase64);
  `;
    const limited = `ulimit -n 100; exec "$0" eval --no-lock '${code}'`;
    const { stdout } = await new Deno.Command("sh", { args: ["-c", limited, Deno.execPath()], stderr: "inherit" })
      .output();
    assert.equal(new TextDecoder().decode(stdout), "No file descriptors available (os error 24) function\n");
  },
);

Deno.test("lazily loads where there is not even /dev/null", { ignore: ignore || !await canUnshare() }, async () => {
  const code = `
    import { lazily } from ${JSON.stringify(new URL("../lib/lazily.ts", import.meta.url).href)};
    console.log(await lazily(() => Promise.resolve("loaded"))());
  `;
  const bare = `mount -t tmpfs none /dev && exec "$0" eval --no-lock '${code}'`;
  const { stdout } = await new Deno.Command("unshare", {
    args: ["--user", "--map-root-user", "--mount", "sh", "-c", bare, Deno.execPath()],
  }).output();
  assert.equal(new TextDecoder().decode(stdout), "loaded\n");
});
