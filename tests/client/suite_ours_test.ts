import { commandUnderTest } from "../program/running_server.ts";
import { registerSuite } from "./suite/register.ts";

registerSuite("ours", commandUnderTest());
