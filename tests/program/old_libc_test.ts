/**
 * The server with the C library that `scripts/install.sh` takes for old enough: this machine's own, in which functions
 * that came after glibc 2.27 have other names.
 */
import assert from "node:assert/strict";
import { endWithUs } from "../support/end_with_us.ts";
import { WireClient } from "../support/wire_client.ts";
import { OUR_COMMAND } from "./running_server.ts";

const PROJECT = new URL("../../", import.meta.url).pathname;

/** Those of them that we open. */
const NEW_FUNCTIONS = [
  "getdents64",
  "posix_spawn_file_actions_addchdir_np",
  "posix_spawn_file_actions_addclosefrom_np",
  "renameat2",
  "statx",
];

/** Where the runtime has it from; undefined: it is another, or linked into it. */
const LIBRARY = Deno.build.os === "linux"
  ? / (\/\S*\/libc\.so\.6)$/m.exec(Deno.readTextFileSync("/proc/self/maps"))?.[1]
  : undefined;

function withoutNewFunctions(library: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const text = new TextDecoder("latin1").decode(library);
  for (const name of NEW_FUNCTIONS) {
    const at = text.indexOf(`${name}\0`);
    if (at >= 0) library[at + name.length - 1] = "X".charCodeAt(0);
  }
  return library;
}

Deno.test("programs, files and directories work with the oldest C library", { ignore: !LIBRARY }, async () => {
  const scratch = await Deno.makeTempDir({ prefix: "exec-server-test-" });
  await Deno.writeFile(`${scratch}/libc.so.6`, withoutNewFunctions(await Deno.readFile(LIBRARY!)));
  await Deno.mkdir(`${scratch}/from/below`, { recursive: true });
  await Deno.writeTextFile(`${scratch}/from/file`, "content");
  const [program, ...args] = OUR_COMMAND;
  const child = endWithUs(
    new Deno.Command(program, {
      args: [...args, "--listen", "stdio"],
      cwd: PROJECT,
      env: { LD_LIBRARY_PATH: scratch },
      stdin: "piped",
      stdout: "piped",
      stderr: "null",
    }).spawn(),
  );
  try {
    await using client = WireClient.overStdio(child);
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    let text = "";
    client.onNotification = (method, params) => {
      if (method === "process/output") text += atob(params["chunk"] as string);
      if (method === "process/closed") resolve();
    };
    await client.initialize();
    const cwd = `file://${scratch}/from`;
    await client.request("process/start", { processId: "p", argv: ["/bin/pwd"], cwd, env: {}, tty: false });
    await closed;
    assert.equal(text, `${await Deno.realPath(`${scratch}/from`)}\n`);
    await client.request("fs/copy", { sourcePath: cwd, destinationPath: `file://${scratch}/to`, recursive: true });
    const { entries } = await client.request("fs/readDirectory", { path: `file://${scratch}/to` }) as {
      entries: { fileName: string }[];
    };
    assert.deepEqual(entries.map(({ fileName }) => fileName).sort(), ["below", "file"]);
    const { dataBase64 } = await client.request("fs/readFile", { path: `file://${scratch}/to/file` }) as {
      dataBase64: string;
    };
    assert.equal(atob(dataBase64), "content");
    client.endInput();
    await child.status;
  } finally {
    await Deno.remove(scratch, { recursive: true });
  }
});
