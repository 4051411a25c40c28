import assert from "node:assert/strict";
import { LogSink } from "../lib/log_sink.ts";

/** A pipe with room for `room` bytes. */
class Pipe {
  text = "";
  room = 0;
  readonly writeNow = (bytes: Uint8Array): number => {
    const count = Math.min(this.room, bytes.length);
    this.text += new TextDecoder().decode(bytes.subarray(0, count));
    this.room -= count;
    return count;
  };
}

Deno.test("LogSink writes in the way that waits until it has one that does not", () => {
  const lines: string[] = [];
  const pipe = new Pipe();
  const sink = new LogSink((line) => lines.push(line));
  sink.write("first\n");
  sink.useNow(pipe.writeNow);
  pipe.room = 100;
  sink.write("second\n");
  assert.deepEqual([lines, pipe.text], [["first\n"], "second\n"]);
});

Deno.test("LogSink drops what does not fit, and says how much once something fits", () => {
  const pipe = new Pipe();
  const sink = new LogSink();
  sink.useNow(pipe.writeNow);
  for (let count = 0; count < 3; count++) sink.write("lost\n");
  pipe.room = 1000;
  sink.write("read\n");
  sink.write("more\n");
  assert.match(pipe.text, /^\S+ WARN log lines dropped because nobody read them count=3\nread\nmore\n$/);
});

Deno.test("LogSink finishes the line that it has begun before it begins another", () => {
  const pipe = new Pipe();
  const sink = new LogSink();
  sink.useNow(pipe.writeNow);
  pipe.room = 4;
  sink.write("begun\n");
  sink.write("lost\n");
  pipe.room = 1;
  sink.write("lost too\n");
  pipe.room = 1000;
  sink.write("read\n");
  assert.match(pipe.text, /^begun\n\S+ WARN log lines dropped because nobody read them count=2\nread\n$/);
});
