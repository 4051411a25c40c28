import { streamBody } from "../program/http_stream.ts";

Deno.test({
  name: "an HTTP body of four gigabytes is streamed whole and in little memory",
  ignore: Deno.build.os !== "linux",
  fn: () => streamBody(4 * 1024 * 1024 * 1024),
});
