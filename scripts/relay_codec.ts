/**
 * Makes `lib/relay/generated/relay_frame.ts` from the schema of the relay's frames: static code over the Reader and
 * Writer of protobufjs, so that neither its parser nor its reflection has to be loaded at run time.
 *
 * Why not protobufjs-cli: its module for this schema has 750 lines without types, and it skips a known field of a wrong
 * wire type where the reference refuses the frame.
 *
 *     deno run -A scripts/relay_codec.ts
 */
import protobuf from "protobufjs/index.js";

const PROTO = new URL("../proto/codex.exec_server.relay.v1.proto", import.meta.url);
const MODULE = new URL("../lib/relay/generated/relay_frame.ts", import.meta.url);
const PACKAGE = "codex.exec_server.relay.v1";
/** The one message that stands by itself. */
const OUTERMOST = "RelayMessageFrame";

/** The kinds of values that the schema has; the script throws at any other. */
const SCALARS: Readonly<
  Record<string, { type: string; zero: string; present: (value: string) => string; read: string }>
> = {
  uint32: { type: "number", zero: "0", present: (value) => `${value} !== 0`, read: "uint32" },
  string: { type: "string", zero: '""', present: (value) => `${value} !== ""`, read: "stringVerify" },
  bytes: { type: "Uint8Array", zero: "NO_BYTES", present: (value) => `${value}.length !== 0`, read: "bytes" },
};
const LINE_WIDTH = 120;
const VARINT = 0;
const LENGTH_DELIMITED = 2;

/** The text of the generated module, as `deno fmt` leaves it. */
export function relayCodec(proto: string): string {
  const types = protobuf.parse(proto).root.lookup(PACKAGE);
  if (!(types instanceof protobuf.Namespace)) throw new Error(`the schema has no package ${PACKAGE}`);
  const messages = types.nestedArray.filter((item) => item instanceof protobuf.Type);
  return [
    "// Made from proto/codex.exec_server.relay.v1.proto by scripts/relay_codec.ts. Do not edit.",
    'import protobuf from "protobufjs/minimal.js";',
    "",
    "type Reader = protobuf.Reader;",
    "type Writer = protobuf.Writer;",
    "",
    "const NO_BYTES: Uint8Array = new Uint8Array(0);",
    ...messages.flatMap((message) => ["", ...declare(message), "", ...reader(message), "", ...writer(message)]),
    "",
    ...FRAME,
    "",
  ].join("\n");
}

const FRAME = `/**
 * Reads all that is left. The bytes in what it returns are views.
 *
 * @throws {Error} It is no ${OUTERMOST}.
 */
export function decode${OUTERMOST}(reader: Reader): ${OUTERMOST} {
  return read${OUTERMOST}(reader);
}

/** @param space Where it goes; if it needs more, memory is allocated, with a copy each time. */
export function encode${OUTERMOST}(message: ${OUTERMOST}, space: Uint8Array): Uint8Array {
  const writer = new protobuf.Writer();
  writer.buf = space;
  write${OUTERMOST}(writer, message);
  return writer.finish(true);
}

/** Reads a message within a message. */
function within<T>(reader: Reader, read: (reader: Reader, message?: T) => T, message?: T): T {
  const length = reader.size();
  const outer = reader.len;
  if (reader.pos + length > outer) throw new RangeError("a message is longer than what it is in");
  reader.len = reader.pos + length;
  const value = read(reader, message);
  reader.len = outer;
  return value;
}

/**
 * @param known The numbers of the fields that the message has; such a one has another wire type here.
 * @param depth How deep the field stands; groups go no deeper than protobufjs's limit.
 */
function skipUnknown(reader: Reader, tag: number, known: readonly number[], depth: number): void {
  if (known.includes(tag >>> 3)) throw new Error("a field has the wrong wire type");
  reader.skipType(tag & 7, depth, tag >>> 3);
}`.split("\n");

function declare(message: protobuf.Type): string[] {
  const lines = message.fieldsArray.filter(({ partOf }) => partOf === null || isOptional(partOf)).map((field) =>
    `  ${field.name}${field.partOf === null ? "" : "?"}: ${typeOf(field)};`
  );
  for (const choice of choicesOf(message)) {
    lines.push(`  ${choice.name}?:`);
    choice.fieldsArray.forEach((field, index, { length }) =>
      lines.push(`    | { kind: "${field.name}"; value: ${typeOf(field)} }${index + 1 === length ? ";" : ""}`)
    );
  }
  if (lines.length === 0) return [`export type ${message.name} = Record<never, never>;`];
  return [`export interface ${message.name} {`, ...lines, "}"];
}

function reader(message: protobuf.Type): string[] {
  const { name, fieldsArray } = message;
  const zeros = fieldsArray.filter(({ partOf }) => partOf === null).map((field) => `${field.name}: ${zeroOf(field)}`);
  const empty = zeros.length === 0 ? "{}" : `{ ${zeros.join(", ")} }`;
  const numbers = `[${fieldsArray.map(({ id }) => id).join(", ")}], ${name === OUTERMOST ? 1 : 2}`;
  const known = fieldsArray.length === 0 ? [`    skipUnknown(reader, reader.tag(), ${numbers});`] : [
    "    const tag = reader.tag();",
    "    switch (tag) {",
    ...fieldsArray.flatMap((field) => [
      `      case ${tagOf(field)}:`,
      ...readField(field),
      "        break;",
    ]),
    "      default:",
    `        skipUnknown(reader, tag, ${numbers});`,
    "    }",
  ];
  return [
    ...call(`function read${name}(`, ["reader: Reader", `message: ${name} = ${empty}`], `): ${name} {`),
    "  while (reader.pos < reader.len) {",
    ...known,
    "  }",
    "  return message;",
    "}",
  ];
}

/** Of a oneof the last counts, and two of the same kind are merged. */
function readField(field: protobuf.Field): string[] {
  const { name, partOf, type } = field;
  if (partOf === null || isOptional(partOf)) return [`        message.${name} = reader.${scalar(field).read}();`];
  const merged = `message.${partOf.name}?.kind === "${name}" ? message.${partOf.name}.value : undefined`;
  return [
    `        message.${partOf.name} = {`,
    `          kind: "${name}",`,
    ...call("          value: within(", ["reader", `read${type}`, merged], "),"),
    "        };",
  ];
}

/** A list in parentheses, broken as the formatter breaks it. */
function call(before: string, list: readonly string[], after: string): string[] {
  const line = before + list.join(", ") + after;
  if (line.length <= LINE_WIDTH) return [line];
  const indent = before.slice(0, before.search(/\S/));
  return [before, ...list.map((item) => `${indent}  ${item},`), indent + after];
}

function writer(message: protobuf.Type): string[] {
  const body: string[] = [];
  for (const field of message.fieldsArray) {
    const { partOf, name } = field;
    if (partOf === null || isOptional(partOf)) {
      const present = partOf === null ? scalar(field).present(`message.${name}`) : `message.${name} !== undefined`;
      body.push(`  if (${present}) writer.uint32(${tagOf(field)}).${field.type}(message.${name});`);
    } else if (partOf.fieldsArray[0] === field) body.push(...writeChoice(partOf));
  }
  if (body.length === 0) return [`function write${message.name}(_writer: Writer, _message: ${message.name}): void {}`];
  return [`function write${message.name}(writer: Writer, message: ${message.name}): void {`, ...body, "}"];
}

function writeChoice(choice: protobuf.OneOf): string[] {
  return [
    `  switch (message.${choice.name}?.kind) {`,
    ...choice.fieldsArray.flatMap((field) => [
      `    case "${field.name}":`,
      `      writer.uint32(${tagOf(field)}).fork();`,
      `      write${field.type}(writer, message.${choice.name}.value);`,
      "      writer.ldelim();",
      "      break;",
    ]),
    "  }",
  ];
}

function choicesOf(message: protobuf.Type): protobuf.OneOf[] {
  return message.oneofsArray.filter((choice) => !isOptional(choice));
}

/** An optional field is a oneof of its own for protobufjs. */
function isOptional(choice: protobuf.OneOf): boolean {
  return choice.name.startsWith("_");
}

function scalar(field: protobuf.Field): typeof SCALARS[string] {
  const kind = SCALARS[field.type];
  if (kind === undefined || field.repeated || field.map) throw new Error(`cannot make code for ${field.fullName}`);
  return kind;
}

function typeOf(field: protobuf.Field): string {
  return field.partOf === null || isOptional(field.partOf) ? scalar(field).type : field.type;
}

function zeroOf(field: protobuf.Field): string {
  return scalar(field).zero;
}

function tagOf(field: protobuf.Field): number {
  return field.id << 3 | (field.type === "uint32" ? VARINT : LENGTH_DELIMITED);
}

if (import.meta.main) await Deno.writeTextFile(MODULE, relayCodec(await Deno.readTextFile(PROTO)));
