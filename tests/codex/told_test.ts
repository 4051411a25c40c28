import assert from "node:assert/strict";
import type { Item } from "./scripted_model.ts";
import { answers, introduction, toolNames } from "./told.ts";

const NOWHERE = new Map<string, string>();

function command(id: string, name: string, args: unknown): Item {
  return { type: "function_call", call_id: id, name, arguments: JSON.stringify(args) };
}

function told(id: string, state: string, output: string): Item {
  const head = `Chunk ID: 0abc\nWall time: 0.5 seconds\nProcess ${state}\nOriginal token count: 3\nOutput:\n`;
  return { type: "function_call_output", call_id: id, output: head + output };
}

Deno.test("answers joins what one command said to several calls, and keeps commands apart", () => {
  const input = [
    command("a", "exec_command", { cmd: "x" }),
    told("a", "running with session ID 11", "one\n"),
    command("b", "exec_command", { cmd: "y" }),
    told("b", "running with session ID 12", "other\n"),
    command("c", "write_stdin", { session_id: 11, chars: "z" }),
    told("c", "exited with code -1", "two\n"),
  ];
  assert.deepEqual(answers({ input, tools: [] }, NOWHERE), [
    { tool: "exec_command", state: "exited with code -1", output: "one\ntwo\n" },
    { tool: "exec_command", state: "running", output: "other\n" },
  ]);
});

Deno.test("answers shows a refused write to a session as an answer of its own", () => {
  const input = [
    command("a", "exec_command", { cmd: "x" }),
    told("a", "running with session ID 11", "one\n"),
    command("b", "write_stdin", { session_id: 11, chars: "z" }),
    { type: "function_call_output", call_id: "b", output: "write_stdin failed" },
  ];
  assert.deepEqual(answers({ input, tools: [] }, NOWHERE).map(({ output }) => output), ["one\n", "write_stdin failed"]);
});

Deno.test("answers puts names in the place of what differs from run to run", () => {
  const parts = [{ type: "input_text", text: "Wall time: 0.0051 seconds\nOutput:" }, {
    type: "input_image",
    at: "/r/a",
  }];
  const input = [
    { type: "custom_tool_call", call_id: "a", name: "apply_patch", input: "" },
    { type: "custom_tool_call_output", call_id: "a", output: parts },
  ];
  assert.deepEqual(answers({ input, tools: [] }, new Map([["/r", "<root>"]])), [{
    tool: "apply_patch",
    state: null,
    output: 'Wall time: some seconds\nOutput:\n{"type":"input_image","at":"<root>/a"}',
  }]);
});

Deno.test("answers refuses an output that belongs to no call", () => {
  assert.throws(() => answers({ input: [told("a", "exited with code 0", "")], tools: [] }, NOWHERE), /without a call/);
});

Deno.test("introduction and toolNames show what the model knows from the start", () => {
  const text = "<cwd>/r/work</cwd><current_date>2026-01-02</current_date>";
  const request = {
    input: [
      { type: "message", role: "developer", content: "You are a model." },
      { type: "message", role: "user", content: [{ type: "input_text", text }] },
    ],
    tools: [{ type: "web_search" }, { type: "function", name: "exec_command" }],
  };
  const places = new Map([["/r", "<root>"]]);
  assert.equal(
    introduction(request, places),
    "user: <cwd><root>/work</cwd><current_date>today</current_date>",
  );
  assert.deepEqual(toolNames(request), ["exec_command", "web_search"]);
});
