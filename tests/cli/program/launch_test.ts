import assert from "node:assert/strict";
import { launch, LaunchError } from "../../../lib/cli/program/launch.ts";
import type { Client } from "../../../lib/cli/client.ts";
import { ClientError } from "../../../lib/client/client_error.ts";

/** A server that starts nothing. */
function refusing(serverMessage: string, code: number, dataKind?: string): Client {
  const error = new ClientError("server", serverMessage, { code, serverMessage, ...(dataKind ? { dataKind } : {}) });
  const client: Pick<Client, "start"> = { start: () => Promise.reject(error) };
  return client as Client;
}

async function exitCode(serverMessage: string, code = -32603, dataKind?: string): Promise<number | undefined> {
  const client = refusing(serverMessage, code, dataKind);
  const error = await launch(client, { argv: ["program"] }).then(() => undefined, (error) => error);
  if (error instanceof LaunchError) return error.exitCode;
  assert.ok(error instanceof ClientError);
  return undefined;
}

Deno.test("a program that cannot run has a shell's exit code, also where a server tells why in words alone", async () => {
  const missing = "No such file or directory (os error 2)";
  const forbidden = "Permission denied (os error 13)";
  const unknown = 'Unable to spawn program because:\nNo viable candidates found in PATH "/bin"';
  for (const isOld of [false, true]) {
    const kind = (name: string) => isOld ? undefined : name;
    assert.equal(await exitCode(missing, -32603, kind("spawnNotFound")), 127);
    assert.equal(await exitCode(forbidden, -32603, kind("spawnPermissionDenied")), 126);
    assert.equal(await exitCode("Exec format error (os error 8)", -32603, kind("spawnFailed")), 126);
    assert.equal(await exitCode(unknown, -32603, kind("spawnFailed")), 127);
  }
});

Deno.test("what a server refuses for another reason is told as it is", async () => {
  assert.equal(await exitCode("argv must not be empty", -32602), undefined);
  assert.equal(await exitCode("no sandbox here (os error 2)", -32600), undefined);
  assert.equal(await exitCode("something else went wrong"), undefined);
  assert.equal(await exitCode("sandbox unavailable: none", -32603, "sandboxUnavailable"), undefined);
});
