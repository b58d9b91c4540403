declare module '*.md' {
  const text: string
  export default text
}

declare module '*.py' {
  const text: string
  export default text
}

declare module '*.ino' {
  const text: string
  export default text
}
