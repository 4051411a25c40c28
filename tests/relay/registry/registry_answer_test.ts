import assert from "node:assert/strict";
import { isAuthorized, readAnswer, readComplaint } from "../../../lib/relay/registry/registry_answer.ts";

const SHAPE = { title: "Answer", texts: ["id", "url"], others: ["key"] } as const;

Deno.test("an answer has the members asked for; others are ignored", () => {
  const { id, url, key } = readAnswer('{"more": {"id": 1}, "url": "u", "id": "i", "key": null}', SHAPE);
  assert.deepEqual({ id, url, key }, { id: "i", url: "u", key: null });
});

Deno.test("what an answer lacks is told in the reference's words, with the place", () => {
  const defects = {
    "": "EOF while parsing a value at line 1 column 0",
    "nope": "expected ident at line 1 column 2",
    "{}": "missing field `id` at line 1 column 2",
    ' {"id":"é"}\n\n': "missing field `url` at line 1 column 12",
    '{"id":"i",\n "url":"u"\n }': "missing field `key` at line 3 column 2",
    '{"id":5}': "invalid type: integer `5`, expected a string at line 1 column 7",
    '{"id": 1.5e3 }': "invalid type: floating point `1.5e3`, expected a string at line 1 column 12",
    '{"a":{"id":1},"id":\n[1]}': "invalid type: sequence, expected a string at line 2 column 0",
    '{"\\u0069d":{}}': "invalid type: map, expected a string at line 1 column 11",
    '{"x":"id\\"","id":null}': "invalid type: null, expected a string at line 1 column 21",
    '{"id":true} x': "invalid type: boolean `true`, expected a string at line 1 column 10",
    '{"id":"i","url":"u","key":0} x': "trailing characters at line 1 column 30",
    '"text"': 'invalid type: string "text", expected struct Answer at line 1 column 6',
    " [1]": "invalid type: sequence, expected struct Answer at line 1 column 1",
  };
  for (const [body, message] of Object.entries(defects)) {
    assert.throws(() => readAnswer(body, SHAPE), { name: "AnswerError", message }, body);
  }
  assert.throws(() => readAnswer('{"id":"i","id":"i"}', SHAPE), { name: "AnswerError", message: /^duplicate .*`id`/ });
});

Deno.test("only a plain yes authorises", () => {
  assert.equal(isAuthorized(' {"valid":true,"more":[]}\n'), true);
  const others = [
    "",
    "true",
    "{}",
    '{"valid":false}',
    '{"valid":"true"}',
    '{"valid":1}',
    '[{"valid":true}]',
    '{"valid":true} x',
  ];
  for (const body of [...others, '{"valid":false,"valid":true}', '{"valid":true,"valid":true}']) {
    assert.equal(isAuthorized(body), false, body);
  }
});

Deno.test("a registry's complaint is found under error, or else under detail", () => {
  assert.deepEqual(readComplaint('{"error":{"code":"c","message":"m"}}'), { code: "c", message: "m" });
  assert.deepEqual(readComplaint('{"detail":{"message":"m"},"x":1}'), { code: undefined, message: "m" });
  assert.deepEqual(readComplaint('{"error":{"code":"c"},"detail":{"message":"m"}}'), { code: "c", message: undefined });
  assert.deepEqual(readComplaint('{"error":null,"detail":{"code":null}}'), { code: undefined, message: undefined });
  const none = [
    "",
    "x",
    "[]",
    "{}",
    '{"error":"text"}',
    '{"detail":"Not Found"}',
    '{"error":{"code":5,"message":"m"}}',
  ];
  for (const body of [...none, '{"error":{"code":"c"},"detail":"text"}']) {
    assert.equal(readComplaint(body), undefined, body);
  }
});
