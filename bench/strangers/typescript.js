// typescript.js FOLDER: write a type for every FOLDER/*.schema.json, and let `tsc --strict` check the messages beside it.
const fs = require("fs"), path = require("path"), ts = require("typescript");
const {compile} = require("json-schema-to-typescript");
const folder = process.argv[2], result = {schemas: 0, compiled: 0, messages: 0, taken: 0, problems: []};
(async () => {
  const files = {};
  for (const file of fs.readdirSync(folder).filter((name) => name.endsWith(".schema.json")).sort()) {
    result.schemas++;
    const name = file.replace(".schema.json", ""), schema = JSON.parse(fs.readFileSync(path.join(folder, file)));
    schema.title = "Message";
    try {
      fs.writeFileSync(path.join(folder, `${name}.d.ts`), await compile(schema, "Message", {bannerComment: ""}));
      result.compiled++;
    } catch (error) { result.problems.push(`${file}: ${error.message}`); continue; }
    const messages = fs.readdirSync(path.join(folder, name)).sort(), test = path.join(folder, `${name}.test.ts`);
    const lines = messages.map((one, at) => `export const m${at}: Message = ${fs.readFileSync(path.join(folder, name, one), "utf8")};`);
    fs.writeFileSync(test, [`import type {Message} from "./${name}";`, ...lines].join("\n"));
    files[test] = messages;
  }
  const options = {strict: true, noEmit: true, target: ts.ScriptTarget.ES2020, moduleResolution: ts.ModuleResolutionKind.Node10};
  const program = ts.createProgram(Object.keys(files), {...options, types: []});
  for (const [file, messages] of Object.entries(files)) {
    const source = program.getSourceFile(file), wrong = new Map();
    for (const one of [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)]) {
      const line = source.getLineAndCharacterOfPosition(one.start).line - 1;
      if (!wrong.has(line)) wrong.set(line, ts.flattenDiagnosticMessageText(one.messageText, " "));
    }
    result.messages += messages.length;
    result.taken += messages.length - wrong.size;
    for (const [line, text] of wrong) result.problems.push(`${path.basename(file)} ${messages[line]}: ${text}`);
  }
  console.log(JSON.stringify(result));
})();
