import { withSubject } from "../conformance/subjects.ts";
import { attackFile } from "./attack-file.ts";

await withSubject("zygote with landlock as root", attackFile);
