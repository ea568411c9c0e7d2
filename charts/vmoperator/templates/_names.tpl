{{/* The chart's name in names and labels. */}}
{{- define "vmoperator.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end }}

{{/* How all names begin: short enough for the longest suffix. */}}
{{- define "vmoperator.fullname" -}}
{{- $name := include "vmoperator.name" . -}}
{{- $full := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) -}}
{{- default $full .Values.fullnameOverride | trunc 42 | trimSuffix "-" -}}
{{- end }}

{{- define "vmoperator.chart" -}}
{{- printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" -}}
{{- end }}

{{/* What the Deployment and the policies select by: nothing that an update changes. */}}
{{- define "vmoperator.selectorLabels" -}}
app.kubernetes.io/name: {{ include "vmoperator.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: controller-manager
{{- end }}

{{/*
Labels of an object with those that are added to its kind. Takes root and added. What is selected by wins over what is added, and that
over commonLabels: no key is there twice.
*/}}
{{- define "vmoperator.labelsWith" -}}
{{- $own := dict
  "helm.sh/chart" (include "vmoperator.chart" .root)
  "app.kubernetes.io/part-of" "vmoperator"
  "app.kubernetes.io/version" .root.Chart.AppVersion
  "app.kubernetes.io/managed-by" .root.Release.Service -}}
{{- $selected := include "vmoperator.selectorLabels" .root | fromYaml -}}
{{- mustMerge $selected (deepCopy .added) (deepCopy .root.Values.commonLabels) $own | toYaml -}}
{{- end }}

{{- define "vmoperator.labels" -}}
{{- include "vmoperator.labelsWith" (dict "root" . "added" dict) -}}
{{- end }}

{{- define "vmoperator.managerName" -}}
{{ include "vmoperator.fullname" . }}-controller-manager
{{- end }}

{{- define "vmoperator.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "vmoperator.managerName" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- required "serviceAccount.name is needed where serviceAccount.create is false" .Values.serviceAccount.name -}}
{{- end -}}
{{- end }}

{{- define "vmoperator.image" -}}
{{- $registry := default .Values.image.registry .Values.global.imageRegistry -}}
{{- $repository := ternary (printf "%s/%s" $registry .Values.image.repository) .Values.image.repository (ne $registry "") -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" $repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" $repository (default .Chart.AppVersion .Values.image.tag) -}}
{{- end -}}
{{- end }}

{{/* The namespaces that get a Role, as JSON: {"namespaces": [...]}. */}}
{{- define "vmoperator.watchNamespaces" -}}
{{- dict "namespaces" (default (list .Release.Namespace) .Values.watchNamespaces | uniq | sortAlpha) | toJson -}}
{{- end }}

{{/* The value of --watch-namespaces. */}}
{{- define "vmoperator.watched" -}}
{{- if and (eq .Values.rbac.scope "cluster") (not .Values.watchNamespaces) -}}
*
{{- else -}}
{{- join "," (include "vmoperator.watchNamespaces" . | fromJson).namespaces -}}
{{- end -}}
{{- end }}

{{/* The endpoint of the ProviderConfig that the operator makes; empty for none. */}}
{{- define "vmoperator.defaultEndpoint" -}}
{{- $mock := index .Values "mock-provider" -}}
{{- if not .Values.controllers.virtualMachine.enabled -}}
{{- else if .Values.provider.defaultEndpoint -}}
{{- .Values.provider.defaultEndpoint -}}
{{- else if and $mock.enabled (ne (include "vmoperator.watched" .) "*") -}}
{{- with index .Subcharts "mock-provider" -}}
{{- if not (include "mock-provider.apiKeySecretName" .) -}}
{{- include "mock-provider.endpoint" . -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end }}

{{/*
How names of Roles and bindings begin in a namespace: with the release's namespace where that is another one, so that two releases of one
name do not fight over them. Takes root and namespace.
*/}}
{{- define "vmoperator.namespacedName" -}}
{{- $name := include "vmoperator.fullname" .root -}}
{{- ternary $name (printf "%s-%s" $name .root.Release.Namespace) (eq .namespace .root.Release.Namespace) -}}
{{- end }}

{{/*
Whether an object of a kind that a cluster may lack is rendered: "true" or nothing. Takes root, mode, kind and api.
*/}}
{{- define "vmoperator.renders" -}}
{{- $known := .root.Capabilities.APIVersions.Has (printf "%s/%s" .api .kind) -}}
{{- if and (eq .mode "failIfMissing") (not $known) -}}
{{- fail (printf "the cluster does not know the kind %s of %s: install it first, or set renderMode to skipIfMissing or alwaysRender" .kind .api) -}}
{{- end -}}
{{- if or $known (eq .mode "alwaysRender") -}}true{{- end -}}
{{- end }}

{{/* The ClusterRole and the RoleBindings of rights that survive their namespace: the former is of the cluster, where releases share names. */}}
{{- define "vmoperator.keptName" -}}
{{- printf "%s-%s-manager-kept" (include "vmoperator.fullname" .) .Release.Namespace -}}
{{- end }}

{{/* The names of the CRDs of the controllers that are on, as JSON: {"names": [...]}. */}}
{{- define "vmoperator.crds" -}}
{{- $names := list -}}
{{- if .Values.controllers.virtualMachine.enabled -}}
{{- $names = list "virtualmachines.compute.example.com" "providerconfigs.compute.example.com" -}}
{{- end -}}
{{- if .Values.controllers.appAutoscaler.enabled -}}
{{- $names = append $names "appautoscalers.apps.example.io" -}}
{{- end -}}
{{- if .Values.controllers.myApp.enabled -}}
{{- $names = append $names "myapps.apps.example.io" -}}
{{- end -}}
{{- dict "names" $names | toJson -}}
{{- end }}
