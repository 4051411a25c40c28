/**
 * What the built package must do wherever it runs: Node.js, Bun, a browser. Nothing but the web's own is used here.
 *
 * @param client The package's main export.
 * @param place `url` of the server, or `relay`, by which it is reached; `control`, where the test listens: `/cut` cuts connections, `/body` is a text;
 * `directory` of the test's own; `command`, where programs can be started: a server on its stdin and stdout.
 * @returns What was seen, to be compared by the test.
 */
export async function smoke(client, { url, relay, control, directory, command }) {
  const seen = {};
  const server = await (relay === undefined ? client.connect(url) : client.connectRelay(relay));
  seen.echo = (await server.run({ argv: ["sh", "-c", "echo hällo; exit 3"] })).stdoutText;
  seen.input = (await server.run({ argv: ["wc", "-c"], input: "x".repeat(100_000) })).stdoutText.trim();

  const bytes = new Uint8Array(300_000).map((_, index) => (index * 7) ^ (index >> 8));
  await server.files.writeFile(`${directory}/file`, bytes);
  const back = await server.files.readFile(`${directory}/file`);
  seen.file = back.length === bytes.length && back.every((byte, index) => byte === bytes[index]);
  const rest = await new Response(await server.files.open(`${directory}/file`, { offset: 299_990 })).arrayBuffer();
  seen.rest = rest.byteLength;
  seen.missing = await server.files.readFile(`${directory}/missing`).catch((error) => `${error.name} ${error.kind}`);
  seen.body = await (await server.fetch(`${control}/body`)).text();

  const counter = await server.start({
    argv: ["sh", "-c", "n=0; while [ $n -lt 50 ]; do echo $n; n=$((n + 1)); sleep 0.01; done"],
  });
  const text = new Response(counter.stdout).text();
  await fetch(`${control}/cut`);
  seen.counted = (await text).trim().split("\n").length;
  seen.code = (await counter.exited).code;
  seen.state = server.state;
  await server.end();
  seen.ended = await server.files.readFile(`${directory}/file`).catch((error) => error.message);

  if (command !== undefined) {
    const child = await client.connectCommand(command);
    seen.child = (await child.run({ argv: ["echo", "child"] })).stdoutText;
    await child.end();
  }
  return seen;
}
