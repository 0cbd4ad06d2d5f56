import { run } from "../cli/main.ts";

void run();
