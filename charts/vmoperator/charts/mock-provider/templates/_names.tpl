{{- define "mock-provider.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end }}

{{- define "mock-provider.fullname" -}}
{{- $name := include "mock-provider.name" . -}}
{{- $full := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) -}}
{{- default $full .Values.fullnameOverride | trunc 55 | trimSuffix "-" -}}
{{- end }}

{{- define "mock-provider.selectorLabels" -}}
app.kubernetes.io/name: {{ include "mock-provider.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: provider
{{- end }}

{{/* Labels of an object with those that are added to its kind: see vmoperator.labelsWith. */}}
{{- define "mock-provider.labelsWith" -}}
{{- $own := dict
  "helm.sh/chart" (printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-")
  "app.kubernetes.io/part-of" "vmoperator"
  "app.kubernetes.io/version" .root.Chart.AppVersion
  "app.kubernetes.io/managed-by" .root.Release.Service -}}
{{- $selected := include "mock-provider.selectorLabels" .root | fromYaml -}}
{{- mustMerge $selected (deepCopy .added) (deepCopy .root.Values.commonLabels) $own | toYaml -}}
{{- end }}

{{- define "mock-provider.labels" -}}
{{- include "mock-provider.labelsWith" (dict "root" . "added" dict) -}}
{{- end }}

{{- define "mock-provider.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "mock-provider.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end }}

{{- define "mock-provider.image" -}}
{{- $registry := default .Values.image.registry (.Values.global).imageRegistry -}}
{{- $repository := ternary (printf "%s/%s" $registry .Values.image.repository) .Values.image.repository (ne $registry "") -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" $repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" $repository (default .Chart.AppVersion .Values.image.tag) -}}
{{- end -}}
{{- end }}

{{/* Where the operator reaches it. */}}
{{- define "mock-provider.endpoint" -}}
{{- printf "http://%s.%s.svc:%d" (include "mock-provider.fullname" .) .Release.Namespace (int .Values.service.port) -}}
{{- end }}

{{/* The Secret with the key that callers must send; empty for none. */}}
{{- define "mock-provider.apiKeySecretName" -}}
{{- if .Values.apiKey.existingSecret -}}
{{- .Values.apiKey.existingSecret -}}
{{- else if .Values.apiKey.value -}}
{{- printf "%s-api-key" (include "mock-provider.fullname" .) -}}
{{- end -}}
{{- end }}
