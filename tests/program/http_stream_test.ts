import { streamBody } from "./http_stream.ts";

Deno.test({
  name: "an HTTP body of 200 megabytes is streamed whole and in little memory",
  ignore: Deno.build.os !== "linux",
  fn: () => streamBody(200 * 1024 * 1024),
});
