import assert from "node:assert/strict";
import { API_KEY } from "../support/remote_program.ts";
import { HARNESS_TOKEN, relayTest, Rig } from "../support/rig.ts";

/** The marker itself, and what is common to its base64 wherever it begins in a longer text. */
function appearances(marker: string): string[] {
  const bytes = new TextEncoder().encode(marker);
  const shifted = [0, 1, 2].map((shift) => {
    const padded = new Uint8Array(shift + bytes.length);
    padded.set(bytes, shift);
    return padded.toBase64({ omitPadding: true }).slice(Math.ceil(shift * 4 / 3), -2);
  });
  return [marker, ...shifted];
}

relayTest("nothing of a command, its input, its output, a file or an authorization is in what is relayed", async () => {
  const directory = await Deno.makeTempDir({ prefix: "exec-server-relay-" });
  await using rig = await Rig.start();
  const { world } = rig;
  const [argument, variable, input, content] = Array.from({ length: 4 }, () => `marker-${crypto.randomUUID()}`);
  {
    await using client = await rig.connect();
    await client.files.writeFile(`${directory}/file`, content!);
    const { stdoutText } = await client.run({
      argv: ["sh", "-c", 'echo "$0 $MARKER"; cat; cat "$1"', argument!, `${directory}/file`],
      env: { MARKER: variable! },
      input: input!,
    });
    assert.equal(stdoutText, `${argument} ${variable}\n${input}${content}`);
  }
  const [streamId] = world.rendezvous.relayed.map(({ view }) => view!.streamId);
  assert.ok(world.relayedHas(streamId!), "what is in clear is found");
  const [authorization] = world.registry.authorizations;
  for (const secret of [argument, variable, input, content, authorization, directory]) {
    for (const text of appearances(secret!)) assert.ok(!world.relayedHas(text), `${text} was relayed`);
  }
  assert.ok(!world.relayedHas("jsonrpc") && !world.relayedHas("process/start"));
  await Deno.remove(directory, { recursive: true });
});

relayTest("a credential goes to the registry alone, and nothing that is secret into a log", async () => {
  await using rig = await Rig.start();
  const { registry, rendezvous } = rig.world;
  await (await rig.connect())[Symbol.asyncDispose]();
  rendezvous.cut("executor");
  await rig.executor(2);
  registry.next("validate", { status: 401, body: { error: { message: "echo-of-the-registry" } } });
  await assert.rejects(rig.connect(), /executor credentials rejected/);
  assert.deepEqual(
    registry.requests.map(({ route, headers }) => `${route} ${headers["authorization"]}`),
    [
      `register Bearer ${API_KEY}`,
      ...["connect", "validate", "connect", "validate"].map((route) => {
        return `${route} Bearer ${route === "connect" ? HARNESS_TOKEN : API_KEY}`;
      }),
    ],
  );
  for (const { headers, target } of rendezvous.upgrades) {
    assert.equal(headers["authorization"], undefined);
    assert.ok(target.includes(rendezvous.secret), "the URL is used as it came");
  }
  rig.stop();
  await rig.ended;
  const streams = rendezvous.relayed.map(({ view }) => view!.streamId);
  const keys = registry.requests.flatMap(({ json }) => Object.values(json.executor_public_key ?? {}) as string[]);
  const secrets = [API_KEY, HARNESS_TOKEN, rendezvous.secret, "echo-of-the-registry", ...registry.authorizations];
  const log = rig.log.join("");
  assert.match(log, /registered[^]*connected[^]*handshake/);
  for (const secret of [...secrets, ...streams, ...keys]) assert.ok(!log.includes(secret), `${secret} is in the log`);
});
