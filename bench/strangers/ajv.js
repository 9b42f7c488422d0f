// ajv.js FOLDER: compile every FOLDER/*.schema.json in strict mode, and try the messages beside it.
const fs = require("fs"), path = require("path"), Ajv = require("ajv/dist/2020");
const folder = process.argv[2], result = {schemas: 0, compiled: 0, messages: 0, taken: 0, beyond: 0, problems: []};
const finite = (value) => typeof value === "number" ? Number.isFinite(value)
  : value === null || typeof value !== "object" || Object.values(value).every(finite);
for (const file of fs.readdirSync(folder).filter((name) => name.endsWith(".schema.json")).sort()) {
  result.schemas++;
  try {
    const check = new Ajv({strict: true}).compile(JSON.parse(fs.readFileSync(path.join(folder, file))));
    result.compiled++;
    const messages = path.join(folder, file.replace(".schema.json", ""));
    for (const name of fs.readdirSync(messages)) {
      const message = JSON.parse(fs.readFileSync(path.join(messages, name)));
      if (!finite(message)) { result.beyond++; continue; }
      result.messages++;
      if (check(message)) result.taken++; else result.problems.push(`${file} ${name}: ${JSON.stringify(check.errors[0])}`);
    }
  } catch (error) { result.problems.push(`${file}: ${error.message}`); }
}
console.log(JSON.stringify(result));
