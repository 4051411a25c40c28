/** The parameters of every method: values that decode, and near misses. */
import fc from "fast-check";
import { FIXTURES } from "./fixtures.ts";

export interface Field {
  readonly name: string;
  /** Mostly valid, as JSON texts. */
  readonly valid: fc.Arbitrary<string>;
  readonly optional: boolean;
}

export function required(name: string, valid: fc.Arbitrary<string>): Field {
  return { name, valid, optional: false };
}

export function optional(name: string, valid: fc.Arbitrary<string>): Field {
  return { name, valid, optional: true };
}

export function text(...values: string[]): fc.Arbitrary<string> {
  return fc.constantFrom(...values).map((value) => JSON.stringify(value));
}

export function json(...values: string[]): fc.Arbitrary<string> {
  return fc.constantFrom(...values);
}

const processId = text("p", "p", "p", "q", "", "é", "__proto__", "constructor", "a\u0000b");
const boolean = json("false", "true");

/** Spellings of the working directory, right and wrong; `<cwd>` is that of both servers. */
const cwd = fc.oneof(
  { weight: 4, arbitrary: fc.constant('"file://<cwd>"') },
  {
    weight: 3,
    arbitrary: text(
      "file:<cwd>",
      "FILE://<cwd>",
      "file://localhost<cwd>",
      "file://LOCALHOST<cwd>/",
      "file://<cwd>/",
      "file://<cwd>//sub/..",
      "file://<cwd>/./sub",
      "file://<cwd>/sub/%2e%2E",
      "file://<cwd>/with space",
      "file://<cwd>/with%20space/",
      "file://<cwd>%2Fsub",
      " file://<cwd>\n",
      "file://<cwd>/su\tb",
      "file:\\\\<cwd>\\sub",
      "file://<cwd>/no-such",
      "file://<cwd>/%FF",
      "file://<cwd>/%zz",
      "file://<cwd>/é",
      "file://<cwd>/file.txt",
      "file://<cwd>/file.txt/x",
      "file:",
      "file://",
      "file:///",
      "file:////",
      "<cwd>",
      "",
      ".",
      "relative",
      "~",
      "http://x/y",
      "HTTP://x",
      "data:,x",
      "c:/x",
      "file:///C:/x",
      "file:///c%3A/x",
      "file:///C|/x",
      "file://C:/x",
      "file://host/x",
      "file://127.0.0.1/x",
      "file://[::1]/x",
      "file://[::1/x",
      "file://u@localhost/x",
      "file://localhost:80/x",
      "file://a b/x",
      "file://%zz/x",
      "file://./x",
      "file:///x?",
      "file:///x?a=1",
      "file:///x#",
      "file:///x#f",
      "file:///x%00",
      "file:///x\u0000y",
      "://x",
      "file",
      "://",
      "1:x",
      "é:x",
    ),
  },
);

const env = fc.oneof(
  { weight: 4, arbitrary: fc.constant('{"PATH":"/usr/bin:/bin"}') },
  {
    weight: 2,
    arbitrary: json(
      "{}",
      '{"PATH":""}',
      '{"PATH":"sub:."}',
      '{"PATH":"/no-such:/bin"}',
      '{"PATH":"/usr/bin:/bin","HOME":"/usr","SHELL":"/bin/sh"}',
      '{"PATH":"/bin","A":"","é":"ü","__proto__":"1","constructor":"2"}',
      '{"PATH":"/bin","A":"x\\u0000y"}',
      '{"PATH":"/bin","A=B":"1"}',
      '{"PATH":"/bin","":"1"}',
      '{"PATH":"/bin","=C":"1"}',
      '{"PATH":"/bin","CODEX_EXEC_SERVER_EXIT_ON_STDIN_CLOSE":"true","CODEX_EXEC_SERVER_NOISE_AUTH_TOKEN":"t"}',
      '{"A":1}',
      '{"A":null}',
      '{"A":["x"]}',
    ),
  },
);

const patterns = json(
  "[]",
  '["PATH"]',
  '["*"]',
  '["pr?be_*"]',
  '["?ANG","H*"]',
  '["[A-C]*"]',
  '["\\\\*"]',
  '["","é"]',
  "[1]",
  "null",
  '["A","B","LC_*","*e*"]',
);

const envPolicy = fc.oneof(
  { weight: 4, arbitrary: fc.constant("null") },
  {
    weight: 4,
    arbitrary: fc.tuple(
      json('"all"', '"core"', '"none"', '"bogus"', '"All"', "1", '{"all":null}', '{"all":1}', '{"x":null}', "{}"),
      json("true", "false", "null"),
      patterns,
      json("{}", '{"A":"set","MY_TOKEN":"kept"}', '{"B":1}', '{"PROBE_MARK":"own","lang":"low"}'),
      patterns,
    ).map(([inherit, ignore, exclude, set, only]) =>
      `{"inherit":${inherit},"ignoreDefaultExcludes":${ignore},"exclude":${exclude},"set":${set},"includeOnly":${only}}`
    ),
  },
  { weight: 1, arbitrary: json("{}", '{"inherit":"all"}', "[]", '["all",true,[],{},[]]', '["none"]') },
);

const uint = json("0", "1", "2", "3", "7", "null", "-0", "-1", "1.0", "1e0", "18446744073709551616", '"1"');
const largeUint = fc.oneof(uint, json("100", "9007199254740993", "9223372036854775808", "18446744073709551615"));
const base64 = text(
  "",
  "YWJjCg==",
  "YQ==",
  "YQ",
  "YQ=",
  "YR==",
  "YW Jj",
  "YWJj\n",
  "Y-_=",
  "Y",
  "====",
  "é",
  "YQ==YQ==",
);
/** Never a file that exists. */
const path = fc.oneof(text("file:///exec-server-no-such/a"), text("a", "", "http://x", "file:///x?", "file:///x%00"));
const handleId = text("h", "", "é", "x".repeat(33));
/** A sandbox that restricts nothing. */
export const UNCONFINED = '{"permissions":{"type":"disabled"},"windowsSandboxLevel":"disabled"}';
const sandbox = json(
  "null",
  "null",
  "null",
  "{}",
  "[]",
  '"x"',
  "5",
  '{"permissions":null}',
  '{"permissions":{}}',
  UNCONFINED,
);

export const METHODS: Readonly<Record<string, readonly Field[]>> = {
  "initialize": [
    required("clientName", text("fuzz", "")),
    optional("resumeSessionId", json("null", '"nope"', '""', '"<sessionId>"')),
  ],
  "environment/info": [],
  "environment/status": [],
  "process/start": [
    required("processId", processId),
    required("argv", fc.constantFrom(...FIXTURES).map(({ argv }) => JSON.stringify(argv))),
    required("cwd", cwd),
    required("env", env),
    required("tty", boolean),
    optional("pipeStdin", boolean),
    optional("arg0", json("null", '"zork"', '""', '"a\\u0000b"')),
    optional("envPolicy", envPolicy),
    optional(
      "metadata",
      json(
        "null",
        "{}",
        '{"toolCallId":"c"}',
        '{"toolCallId":1}',
        '{"threadId":null}',
        '{"threadId":"67e55044-10b1-426f-9247-bb680e5fe0c8"}',
        '{"threadId":"67E5504410B1426F9247BB680E5FE0C8"}',
        '{"threadId":"x"}',
        '{"threadId":""}',
        '{"threadId":"67e55044-10b1-426f-9247-bb680e5fe0c"}',
        "[]",
        '[null,"c"]',
      ),
    ),
    optional("sandbox", sandbox),
    optional("enforceManagedNetwork", boolean),
    optional(
      "shellSnapshot",
      json("null", "{}", '{"scopeId":""}', '{"scopeId":1}', '{"scopeId":"s","shell":{}}', '{"scopeId":"s","shell":1}'),
    ),
  ],
  "process/read": [
    required("processId", processId),
    optional("afterSeq", largeUint),
    optional("maxBytes", largeUint),
    optional("waitMs", uint),
  ],
  "process/write": [
    required("processId", processId),
    required("chunk", base64),
    required("writeId", text("w", "v", "u", "")),
  ],
  "process/signal": [
    required("processId", processId),
    required("signal", json('"interrupt"', '"interrupt"', '"kill"', '"Interrupt"', '{"interrupt":null}', '{"x":1}')),
  ],
  "process/terminate": [required("processId", processId)],
  "http/request": [
    required("requestId", text("r", "")),
    required("method", text("GET", "")),
    required("url", text("http://127.0.0.1:1/", "x")),
    optional("headers", json("[]", '[{"name":"a","value":"b"}]', '[{"name":"a"}]', "[1]", "null")),
    optional("bodyBase64", base64),
    optional("timeoutMs", uint),
    optional("redirectPolicy", text("follow", "stop", "x")),
    optional("streamResponse", boolean),
  ],
  "environmentConfig/read": [
    required("cwd", fc.constant('"file://<cwd>"')),
    required("configPaths", json("[]", '[["model"]]', "[[]]", "[1]", '["x"]')),
    required("requirementsPaths", json("[]", '[["x"]]', "null")),
  ],
  "capabilityRoots/discoverV1": [
    required("roots", json("[]", "[{}]", "[1]", '[{"id":"a","path":"file:///exec-server-no-such"}]')),
  ],
  "capabilities/discoverV2": [required("cwd", path), optional("sandbox", sandbox)],
  "fs/readFile": [required("path", path), optional("followSymlinks", boolean), optional("sandbox", sandbox)],
  "fs/open": [
    required("handleId", handleId),
    required("path", path),
    optional("mode", text("read", "replace", "x")),
    optional("sandbox", sandbox),
  ],
  "fs/readBlock": [required("handleId", handleId), required("offset", largeUint), required("len", largeUint)],
  "fs/writeBlock": [required("handleId", handleId), required("offset", largeUint), required("chunk", base64)],
  "fs/close": [required("handleId", handleId)],
  "fs/writeFile": [
    required("path", path),
    required("dataBase64", base64),
    optional("followSymlinks", boolean),
    optional("sandbox", sandbox),
  ],
  "fs/createDirectory": [required("path", path), optional("recursive", boolean), optional("followSymlinks", boolean)],
  "fs/getMetadata": [required("path", path), optional("followSymlinks", boolean), optional("sandbox", sandbox)],
  "fs/canonicalize": [required("path", path), optional("sandbox", sandbox)],
  "fs/readDirectory": [required("path", path), optional("sandbox", sandbox)],
  "fs/walk": [
    required("path", path),
    required(
      "options",
      json(
        "{}",
        '{"maxDepth":1,"maxDirectories":1,"maxEntries":1,"followDirectorySymlinks":false}',
        '{"maxDepth":-1}',
        "[1,1,1,true]",
      ),
    ),
    optional("sandbox", sandbox),
  ],
  "fs/remove": [
    required("path", path),
    optional("recursive", boolean),
    optional("force", boolean),
    optional("followSymlinks", boolean),
  ],
  "fs/copy": [required("sourcePath", path), required("destinationPath", path), required("recursive", boolean)],
  "fs/watchMissing": [required("watchId", largeUint), required("missing", json("[]", '["a"]', "[1]", "null"))],
};
