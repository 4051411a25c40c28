/**
 * A registry and a rendezvous in a program of their own, so that what they cost is neither the harness's nor the
 * executor's. Prints the registry's URL; ends with its standard input.
 */
import { TestWorld } from "../relay/support/world.ts";

await using world = TestWorld.start({ recording: false });
console.log(world.registryUrl);
for await (const _ of Deno.stdin.readable);
