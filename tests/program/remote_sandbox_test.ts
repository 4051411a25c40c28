/** The sandbox of a remote environment: the same as that of a server which listens. */
import assert from "node:assert/strict";
import { connectRelay } from "../../lib/client/connect.ts";
import { parseJson } from "../../lib/json.ts";
import { sandboxContext } from "../../lib/protocol/sandbox.ts";
import { TestWorld } from "../relay/support/world.ts";
import { backEndMissing } from "../sandbox/support/back_ends.ts";
import { SELF } from "../sandbox/support/user.ts";
import { pathEntry, restricted, specialEntry } from "../support/sandbox_documents.ts";
import { inTime } from "./eventually.ts";
import { RemoteChild } from "./remote_child.ts";

const ENVIRONMENT = "environment";
const PROTECTED = [".agents", ".aws", ".codex", ".git"];
const missing = await backEndMissing("bubblewrap", SELF);

function names(directory: string): string[] {
  return Array.from(Deno.readDirSync(directory), ({ name }) => name).toSorted();
}

Deno.test({
  name: `in remote mode the bearer file is hidden, and the end leaves nothing${
    missing ? ` (skipped: ${missing})` : ""
  }`,
  ignore: missing !== undefined,
  async fn() {
    await using world = TestWorld.start();
    const place = ["--remote", world.registryUrl, "--environment-id", ENVIRONMENT];
    await using child = await RemoteChild.start({
      args: [...place, "--registration-bearer-file", "token", "--sandbox", "bubblewrap"],
      files: { token: "the-bearer-token" },
    });
    await inTime("the executor", world.rendezvous.connected("executor", 1));
    const workspace = `${child.home}/workspace`;
    await Deno.mkdir(workspace);
    const document = restricted([specialEntry("root", "read"), pathEntry(`file://${workspace}`, "write")]);
    const sandbox = sandboxContext.decode(parseJson(JSON.stringify(document)));
    await using client = await connectRelay({ registry: world.registryUrl, environmentId: ENVIRONMENT, token: "t" });
    const script = `cat ${child.home}/token; cat ${child.home}/unrelated; exec sleep 300`;
    await Deno.writeTextFile(`${child.home}/unrelated`, "everything else\n");
    const process = await client.start({ argv: ["/bin/sh", "-c", script], sandbox });
    for await (const text of process.stdout.pipeThrough(new TextDecoderStream())) {
      assert.equal(text, "everything else\n");
      break;
    }
    assert.deepEqual(names(workspace), PROTECTED);
    child.program.signal("SIGTERM");
    const { code } = await child.ended();
    assert.equal(code, 0);
    assert.deepEqual(names(workspace), []);
  },
});

Deno.test({
  name: "in remote mode --sandbox external warns once at start",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using world = TestWorld.start();
    const args = ["--remote", world.registryUrl, "--environment-id", ENVIRONMENT, "--sandbox", "external"];
    await using child = await RemoteChild.start({ args, env: { CODEX_API_KEY: "key-of-the-test" } });
    await inTime("the executor", world.rendezvous.connected("executor", 1));
    child.program.signal("SIGTERM");
    const { stderr } = await child.ended();
    assert.equal(stderr.match(/WARN sandboxes are not enforced here/g)?.length, 1);
  },
});
