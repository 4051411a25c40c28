import assert from "node:assert/strict";
import { call, inOrder, sessionOf, until } from "./sayings.ts";
import { type ModelRequest, type Script, ScriptedModel } from "./scripted_model.ts";

async function ask(model: ScriptedModel, request: ModelRequest): Promise<string> {
  const response = await fetch(`${model.baseUrl}/responses`, { method: "POST", body: JSON.stringify(request) });
  return await response.text();
}

function output(text: string): ModelRequest {
  return { input: [{ type: "function_call_output", call_id: "x", output: text }], tools: [] };
}

Deno.test("ScriptedModel answers with what the script says next, as events", async () => {
  await using model = new ScriptedModel(inOrder([call("exec_command", { cmd: "true" })]));
  const first = await ask(model, { input: [], tools: [] });
  assert.deepEqual(first.match(/^event: .*$/gm), [
    "event: response.created",
    "event: response.output_item.done",
    "event: response.completed",
  ]);
  assert.match(first, /"name":"exec_command","arguments":"{\\"cmd\\":\\"true\\"}"/);
  assert.match(await ask(model, output("it is true")), /"text":"done"/);
  assert.deepEqual(model.requests.map(({ input }) => input.length), [0, 1]);
  assert.deepEqual(model.faults, []);
});

Deno.test("ScriptedModel remembers what no script provides for", async () => {
  await using model = new ScriptedModel(inOrder());
  await (await fetch(`${model.baseUrl}/models`)).body?.cancel();
  await ask(model, { input: [], tools: [] });
  await ask(model, { input: [], tools: [] });
  assert.deepEqual(model.faults, [
    "an unexpected request: GET /v1/models",
    "the script was over and the model was asked again",
  ]);
});

Deno.test("ScriptedModel remembers why a script failed", async () => {
  function* failing(): Script {
    const told = yield [call("exec_command", { cmd: "cat" })];
    yield [call("write_stdin", { session_id: sessionOf(told) })];
  }
  await using model = new ScriptedModel(failing());
  await ask(model, { input: [], tools: [] });
  await ask(model, output("Process exited with code 1"));
  assert.deepEqual(model.faults, ["the script failed: no session in Process exited with code 1"]);
});

Deno.test("until goes on asking a session until it has said what is awaited, in however many pieces", () => {
  const running = "Process running with session ID 7\nOutput:\n";
  const script = until("ready", 7, output(`${running}re`));
  assert.deepEqual(script.next().value?.map(({ name }) => name), ["write_stdin"]);
  assert.equal(script.next(output(`${running}ady`)).done, true);
  assert.equal(until("ready", 7, output("ready")).next().done, true);
});

Deno.test("until gives up when the session has ended", () => {
  const script = until("ready", 7, output("Process running with session ID 7"));
  script.next();
  assert.throws(() => script.next(output("Process exited with code 1")), /ended before it said ready/);
});
