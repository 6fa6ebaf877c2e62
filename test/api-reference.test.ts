import { join } from 'node:path';
import ts from 'typescript';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');
const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile);
const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
const index = join(root, 'src', 'index.ts');
const program = ts.createProgram([index], options);
const checker = program.getTypeChecker();
const module = checker.getSymbolAtLocation(program.getSourceFile(index)!)!;
const exported = checker.getExportsOfModule(module).map((symbol) => {
  return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
});

it('every export of the package is explained where it is declared, and so are the methods of its classes', () => {
  const ours = exported.filter((symbol) => !isGenerated(symbol));
  const methods = ours.flatMap((symbol) => [...(symbol.members?.values() ?? [])].filter(isPublicMethod));
  expect([...ours, ...methods].filter((symbol) => !isExplained(symbol)).map(({ name }) => name)).toEqual([]);
});

it('the messages and enums of the wire have the comments of the proto files', () => {
  const wire = exported.filter(
    (symbol) => isGenerated(symbol) && symbol.flags & (ts.SymbolFlags.Interface | ts.SymbolFlags.Enum),
  );
  const isClient = ({ name }: ts.Symbol) => /(Service|ServiceClient|ServiceServer|_\w+Entry)$/.test(name);
  expect(wire.length).toBeGreaterThan(100);
  const bare = wire.filter((symbol) => !isClient(symbol) && !isExplained(symbol) && !isEmptyAnswer(symbol));
  expect(bare.map(({ name }) => name)).toEqual([]);
});

function isGenerated(symbol: ts.Symbol): boolean {
  return symbol.declarations?.some((node) => node.getSourceFile().fileName.startsWith(join(root, 'gen'))) ?? false;
}

function isExplained(symbol: ts.Symbol): boolean {
  return symbol.getDocumentationComment(checker).length > 0 || symbol.getJsDocTags(checker).length > 0;
}

function isPublicMethod(symbol: ts.Symbol): boolean {
  const [node] = symbol.declarations ?? [];
  if (!node || !(ts.isMethodDeclaration(node) || ts.isMethodSignature(node))) return false;
  return !ts.isPrivateIdentifier(node.name) && !(ts.getCombinedModifierFlags(node) & ts.ModifierFlags.Private);
}

/** The pair of a method, which the method's own comment explains. */
function isEmptyAnswer({ name }: ts.Symbol): boolean {
  return /(Request|Response)$/.test(name);
}
