/** Small scripts that ask the plugin itself for candidates. */
export function completionScript(shell: string): string | undefined {
  switch (shell) {
    case 'kubectl':
      return '#!/bin/sh\n# kubectl runs this file for completion of "kubectl slurm". Put it beside kubectl-slurm.\nexec kubectl-slurm __complete "$@"\n';
    case 'bash':
      return `_kubectl_slurm() {
  local IFS=$'\\n'
  COMPREPLY=($(kubectl-slurm __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | grep -v '^:' | cut -f1))
}
complete -F _kubectl_slurm kubectl-slurm
`;
    case 'zsh':
      return `#compdef kubectl-slurm
_kubectl_slurm() {
  local -a candidates
  candidates=(\${(f)"$(kubectl-slurm __complete "\${words[@]:1}" 2>/dev/null | grep -v '^:' | sed 's/\\t/:/')"})
  _describe 'kubectl slurm' candidates
}
compdef _kubectl_slurm kubectl-slurm
`;
    case 'fish':
      return `complete -c kubectl-slurm -f -a "(kubectl-slurm __complete (commandline -opc)[2..] (commandline -ct) 2>/dev/null | string match -v ':*')"\n`;
    default:
      return undefined;
  }
}
