// asyncapi.js FOLDER: parse every FOLDER/*.asyncapi.yaml with the parser of AsyncAPI, and its examples with Ajv by draft 7.
const fs = require("fs"), path = require("path"), yaml = require("js-yaml"), Ajv = require("ajv");
const {Parser} = require("@asyncapi/parser");
const folder = process.argv[2], result = {schemas: 0, compiled: 0, messages: 0, taken: 0, problems: []};
(async () => {
  for (const file of fs.readdirSync(folder).filter((name) => name.endsWith(".asyncapi.yaml")).sort()) {
    result.schemas++;
    const text = fs.readFileSync(path.join(folder, file), "utf8"), written = yaml.load(text);
    const {document, diagnostics} = await new Parser().parse(text);
    const errors = diagnostics.filter((one) => one.severity === 0);
    if (document && !errors.length) result.compiled++;
    else result.problems.push(`${file}: ${errors.slice(0, 3).map((one) => `${one.path.join(".")} ${one.message}`).join("; ")}`);
    // The parser does not try examples by the payload.
    const ajv = new Ajv({strict: false, validateSchema: false}).addSchema({components: written.components}, "document");
    const check = ajv.compile({$ref: "document#/components/schemas/change/schema"});
    for (const one of written.components.messages.change.examples) {
      result.messages++;
      if (check(one.payload)) result.taken++; else result.problems.push(`${file} ${one.name}: ${JSON.stringify(check.errors[0])}`);
    }
  }
  console.log(JSON.stringify(result));
})();
