import { type Node, parseSync } from 'oxc-parser'
import { isReferenceIdentifier, ScopeTracker, walk } from 'oxc-walker'
import { emptyModule, lineCounter, type Module, targetOf } from './module.ts'
import type { SourceFile } from './tree.ts'

export const isModule = (path: string) => /\.(ts|tsx|mts|js|mjs)$/.test(path)

/** Every fact of a TypeScript or JavaScript file. Throws on a syntax error. */
export function parseModule(source: SourceFile): Module {
  const { program, comments, errors } = parseSync(source.path, source.text)
  if (errors[0]) throw new Error(`${source.path}: ${errors[0].message}`)
  const module = emptyModule(source)
  const line = lineCounter(source.text)
  for (const { value, start } of comments) module.comments.push({ text: value, line: line(start) })
  // The first walk learns the declarations, so that the second knows a use before its declaration.
  const scopeTracker = new ScopeTracker({ preserveExitedScopes: true })
  walk(program, { scopeTracker })
  scopeTracker.freeze()
  walk(program, {
    scopeTracker,
    enter(node, parent) {
      collectImport(module, node, line(node.start))
      collectFunction(module, node, parent, line)
      collectText(module, node, line(node.start))
      const name = globalName(node, parent, (id) => scopeTracker.isDeclared(id))
      if (name) module.globals.push({ text: name, line: line(node.start) })
    },
  })
  return module
}

function collectImport(module: Module, node: Node, line: number) {
  const add = (specifier: string, typeOnly: boolean) =>
    module.imports.push({ specifier, line, typeOnly, target: targetOf(module.path, specifier) })
  if (node.type === 'ImportDeclaration') add(node.source.value, node.importKind === 'type')
  else if (node.type === 'ExportAllDeclaration') add(node.source.value, node.exportKind === 'type')
  else if (node.type === 'ExportNamedDeclaration' && node.source) {
    add(node.source.value, node.exportKind === 'type')
  } else if (node.type === 'ImportExpression') add(literal(node.source) ?? '(computed)', false)
  else if (node.type === 'NewExpression' && ['URL', 'Worker'].includes(dotted(node.callee))) {
    const file = literal(node.arguments[0])
    if (file && /^\.{1,2}\//.test(file)) add(file, false)
  } else if (
    node.type === 'CallExpression' &&
    /^(require|import\.meta\.\w+)/.test(dotted(node.callee))
  ) {
    const file = literal(node.arguments[0])
    if (file) add(file, false)
  }
}

function collectFunction(
  module: Module,
  node: Node,
  parent: Node | null,
  line: (offset: number) => number,
) {
  const kinds = ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']
  if (!kinds.includes(node.type)) return
  const [first, last] = [line(node.start), line(node.end)]
  module.functions.push({ name: functionName(node, parent), line: first, lines: last - first + 1 })
}

/** The name in the source, or where the function is passed to: `describe()`. */
function functionName(node: Node, parent: Node | null): string {
  if ('id' in node && node.id && 'name' in node.id) return String(node.id.name)
  if (parent?.type === 'CallExpression') return `${dotted(parent.callee)}()`
  if (parent?.type === 'VariableDeclarator' && parent.id.type === 'Identifier')
    return parent.id.name
  const named = parent?.type === 'Property' || parent?.type === 'MethodDefinition'
  return named && parent.key.type === 'Identifier' ? parent.key.name : 'function'
}

function collectText(module: Module, node: Node, line: number) {
  if (node.type === 'TSAnyKeyword') module.anys.push(line)
  if (node.type === 'CallExpression') module.calls.push({ text: dotted(node.callee), line })
  if (node.type === 'TemplateElement') module.texts.push({ text: node.value.raw, line })
  const text = literal(node)
  if (text !== null) module.texts.push({ text, line })
}

/** What a node takes from its surroundings: `fetch`, `Date.now`, `new Date()`; else null. */
function globalName(node: Node, parent: Node | null, declared: (name: string) => boolean) {
  if (node.type === 'MetaProperty' && parent?.type === 'MemberExpression') return dotted(parent)
  if (node.type !== 'Identifier' || declared(node.name)) return null
  if (parent?.type === 'TSTypeQuery' || !isReferenceIdentifier(node, parent)) return null
  if (parent?.type === 'MemberExpression' && parent.object === node) {
    return dotted(parent).replace(/^(globalThis|window|self)\./, '')
  }
  if (parent?.type === 'NewExpression' && parent.callee === node) {
    return `new ${node.name}(${parent.arguments.length ? '…' : ''})`
  }
  return node.name
}

const literal = (node: Node | undefined): string | null =>
  node?.type === 'Literal' && typeof node.value === 'string' ? node.value : null

/** `a.b.c` of nested member accesses; computed parts appear as `[]`. */
function dotted(node: Node): string {
  if (node.type === 'Identifier') return node.name
  if (node.type === 'MetaProperty') return 'import.meta'
  if (node.type === 'CallExpression') return `${dotted(node.callee)}()`
  if (node.type !== 'MemberExpression') return '()'
  const property = node.property.type === 'Identifier' && !node.computed ? node.property.name : '[]'
  return `${dotted(node.object)}.${property}`
}
