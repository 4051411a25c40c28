import { commandUnderTest } from "../../program/running_server.ts";
import { registerSuite } from "./register.ts";

registerSuite("ours", commandUnderTest());
