{{/* Text for Slurm's files. */}}

{{/* One value: a list becomes a,b,c; YAML booleans become YES and NO; 0 and false are ordinary values. */}}
{{- define "slurm.confValue" -}}
{{- if kindIs "slice" . -}}
{{- $parts := list -}}
{{- range . -}}{{- with include "slurm.confValue" . -}}{{- $parts = append $parts . -}}{{- end -}}{{- end -}}
{{- join "," $parts -}}
{{- else if kindIs "bool" . -}}
{{- ternary "YES" "NO" . -}}
{{- else if kindIs "float64" . -}}
{{- if eq (floor .) . -}}{{- printf "%d" (int64 .) -}}{{- else -}}{{- . -}}{{- end -}}
{{- else -}}
{{- toString . -}}
{{- end -}}
{{- end -}}

{{/* A map as Key=Value, joined by separator. Arguments: map, separator. Null, "" and [] are omitted: Slurm refuses a key without a value. */}}
{{- define "slurm.confMap" -}}
{{- $pairs := list -}}
{{- range $key, $value := .map -}}
{{- if not (kindIs "invalid" $value) -}}
{{- with include "slurm.confValue" $value -}}{{- $pairs = append $pairs (printf "%s=%s" $key .) -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- join .separator $pairs -}}
{{- end -}}

{{/* config where it is set, else configMap. Arguments: config, configMap. */}}
{{- define "slurm.partitionConf" -}}
{{- if .config -}}{{- trim .config -}}{{- else -}}{{- include "slurm.confMap" (dict "map" .configMap "separator" " ") -}}{{- end -}}
{{- end -}}

{{/* The partitions of several node sets, as lines of slurm.conf. */}}
{{- define "slurm.partitions" -}}
{{- $root := . -}}
{{- $enabled := dict -}}
{{- range $name, $set := (include "slurm.nodesets" . | fromJson) -}}{{- $_ := set $enabled $name true -}}{{- end -}}
{{- $lines := list -}}
{{- range $name, $partition := .Values.partitions -}}
{{- if and $partition $partition.enabled -}}
{{- if not $partition.nodesets -}}
{{- fail (printf "partitions.%s.nodesets is empty: name node sets, or ALL" $name) -}}
{{- end -}}
{{- range $partition.nodesets -}}
{{- if and (ne . "ALL") (not (hasKey $enabled .)) -}}
{{- fail (printf "partitions.%s.nodesets names %q, but there is no enabled node set of that name; enabled node sets: %s" $name . (join ", " (keys $enabled | sortAlpha) | default "none")) -}}
{{- end -}}
{{- end -}}
{{- $line := printf "PartitionName=%s Nodes=%s %s" $name (join "," $partition.nodesets) (include "slurm.partitionConf" (dict "config" $partition.config "configMap" $partition.configMap)) -}}
{{- $lines = append $lines (trim $line) -}}
{{- end -}}
{{- end -}}
{{- join "\n" $lines -}}
{{- end -}}

{{/* extraConf of the Controller: the user's lines, then the partitions. */}}
{{- define "slurm.controllerConf" -}}
{{- $own := .Values.controller.extraConf | default (include "slurm.confMap" (dict "map" .Values.controller.extraConfMap "separator" "\n")) -}}
{{- $parts := list -}}
{{- range list $own (include "slurm.partitions" .) -}}
{{- if . -}}{{- $parts = append $parts (trim .) -}}{{- end -}}
{{- end -}}
{{- join "\n" $parts -}}
{{- end -}}
