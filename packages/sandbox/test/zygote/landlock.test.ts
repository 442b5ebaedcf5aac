import { conformanceSuite } from "../conformance/conformance.ts";
import { withSubject } from "../conformance/subjects.ts";

await withSubject("zygote with landlock", conformanceSuite);
