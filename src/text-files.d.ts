declare module '*.sql' {
  const text: string
  export default text
}

declare module '*.svg' {
  const text: string
  export default text
}
