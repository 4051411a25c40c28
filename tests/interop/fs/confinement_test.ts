import assert from "node:assert/strict";
import { assertConfined, Confinement, NoConfinement } from "./confinement.ts";
import { lacksConfinement } from "./lacks_confinement.ts";
import { StdioClient } from "../../wire/stdio_client.ts";

const ignore = await lacksConfinement();

/** A directory in which everybody may write, and a confinement that shows this Deno and this checkout. */
async function scene() {
  await using cleanup = new AsyncDisposableStack();
  const confinement = cleanup.use(await Confinement.create());
  const open = await Deno.realPath(await Deno.makeTempDir({ prefix: "exec-server-open-" }));
  cleanup.defer(() => Deno.remove(open, { recursive: true }));
  await Deno.chmod(open, 0o777);
  const deno = confinement.show("deno", await Deno.realPath(Deno.execPath()));
  const project = confinement.show("project", decodeURIComponent(new URL("../../../", import.meta.url).pathname));
  const owned = cleanup.move();
  return { confinement, open, deno, project, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

async function run(words: readonly string[]): Promise<{ code: number; text: string }> {
  const [program, ...args] = words as [string, ...string[]];
  const { code, stdout, stderr } = await new Deno.Command(program, { args, stdin: "null" }).output();
  return { code, text: new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr) };
}

Deno.test({ name: "a server in the confinement changes files there and cannot make one outside", ignore }, async () => {
  await using own = await scene();
  const { confinement, open } = own;
  const words = [own.deno, "run", "-A", "--no-config", "--no-lock", `${own.project}/main.ts`, "--listen", "stdio"];
  await using client = new StdioClient({
    words: confinement.words(words),
    cwd: "/",
    env: { PATH: Deno.env.get("PATH") ?? "/usr/bin:/bin" },
  });
  const ask = async (method: string, params: unknown): Promise<{ result?: unknown; error?: { message: string } }> => {
    await client.send(JSON.stringify({ id: method, method, params }));
    const found = () => client.inbox.replies.find(({ id }) => id === method);
    const reply = await client.inbox.until(found, () => `answer to ${method}`);
    client.inbox.replies.splice(0);
    return reply.message;
  };
  await ask("initialize", { clientName: "test" });
  await client.send('{"method":"initialized"}');
  const within = await ask("fs/writeFile", { path: `file://${confinement.work}/file`, dataBase64: "aGk=" });
  assert.deepEqual(within.result, {}, JSON.stringify(within));
  const outside = await ask("fs/writeFile", { path: `file://${open}/file`, dataBase64: "aGk=" });
  assert.equal(outside.error?.message, "Read-only file system (os error 30)");
  assert.deepEqual(await Array.fromAsync(Deno.readDir(open)), []);
  assert.deepEqual(await Array.fromAsync(Deno.readDir(confinement.directory)), []);
});

Deno.test({ name: "assertConfined agrees inside and objects outside", ignore }, async () => {
  await using own = await scene();
  const script = `
    const { assertConfined } = await import("${own.project}/tests/interop/fs/confinement.ts");
    assertConfined("${own.confinement.directory}");
    console.log("confined");`;
  const words = [own.deno, "eval", "--no-config", "--no-lock", script];
  assert.deepEqual(await run(own.confinement.words(words)), { code: 0, text: "confined\n" });
  assert.throws(() => assertConfined(own.confinement.directory), NoConfinement);
});

Deno.test({ name: "in the confinement a file has a bound, and the outside no writable place", ignore }, async () => {
  await using own = await scene();
  const script = `
    id -u; umask; echo x > ${own.open}/x; echo x > ${own.confinement.directory}/x
    dd if=/dev/zero of=large bs=1048576 count=100 2>&1 | grep -i large; ls -s ${own.project}/deno.json > /dev/null`;
  const { text } = await run(own.confinement.words(["/bin/sh", "-c", script]));
  assert.match(text, /^[1-9]\d*\n0022\n/);
  assert.match(text, /File too large/);
  assert.match(text, /Read-only file system/);
  assert.equal(text.match(/cannot create/g)?.length, Deno.uid() === 0 ? 2 : 1, text);
});
