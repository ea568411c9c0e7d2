{{- /* The spec of an Application for the operator, given the names of environment and server. */ -}}
{{- define "root.operator" -}}
{{- $values := .root.Values -}}
project: vmoperator
destination:
  server: {{ .server | quote }}
  namespace: {{ $values.operatorNamespace }}
{{- if $values.chart.version }}
sources:
  - repoURL: {{ $values.chart.repository }}
    chart: vmoperator
    targetRevision: {{ $values.chart.version | quote }}
    helm:
      valueFiles: ["$git/gitops/environments/{{ .environment }}/operator.yaml"]
      {{- include "root.helm" .root | nindent 6 }}
  - repoURL: {{ $values.repoURL }}
    targetRevision: {{ $values.targetRevision | quote }}
    ref: git
{{- else }}
source:
  repoURL: {{ $values.repoURL }}
  targetRevision: {{ $values.targetRevision | quote }}
  path: charts/vmoperator
  helm:
    valueFiles: [/gitops/image.yaml, "/gitops/environments/{{ .environment }}/operator.yaml"]
    {{- include "root.helm" .root | nindent 4 }}
{{- end }}
syncPolicy:
  {{- include "root.automated" . | nindent 2 }}
  managedNamespaceMetadata:
    labels: {pod-security.kubernetes.io/enforce: restricted}
  syncOptions: [ServerSideApply=true, CreateNamespace=true, FailOnSharedResource=true]
{{- end }}

{{- /* The watched namespaces are made with the chart, for its Roles are in them. They are never deleted: with a namespace
its VirtualMachines would go, and the right to delete their VMs. */ -}}
{{- define "root.helm" -}}
releaseName: vmoperator
# There is no hook in Argo CD that tests are for.
skipTests: true
valuesObject:
  watchNamespaces: {{ toJson .Values.namespaces }}
  extraObjects:
    {{- range .Values.namespaces }}
    - apiVersion: v1
      kind: Namespace
      metadata:
        name: {{ . }}
        labels: {pod-security.kubernetes.io/enforce: restricted}
        annotations:
          argocd.argoproj.io/sync-wave: "-1"
          argocd.argoproj.io/sync-options: Prune=false,Delete=false
    {{- end }}
{{- end }}

{{- /* The spec of an Application for the objects of an environment. */ -}}
{{- define "root.objects" -}}
{{- $values := .root.Values -}}
project: vmoperator
destination:
  server: {{ .server | quote }}
  namespace: {{ first $values.namespaces }}
source:
  repoURL: {{ $values.repoURL }}
  targetRevision: {{ $values.targetRevision | quote }}
  path: gitops/environments/{{ .environment }}/objects
  directory: {recurse: true}
# What the operator sets in a Deployment that is also in git is the AppAutoscaler's to say.
ignoreDifferences:
  - {group: apps, kind: Deployment, managedFieldsManagers: [vmoperator]}
syncPolicy:
  {{- include "root.automated" . | nindent 2 }}
  syncOptions:
    - ServerSideApply=true
    - FailOnSharedResource=true
    - RespectIgnoreDifferences=true
    # The operator's Application may be slower.
    - SkipDryRunOnMissingResource=true
    {{- if $values.confirmDeletion }}
    - Prune=confirm
    - Delete=confirm
    {{- end }}
{{- end }}

{{- define "root.automated" -}}
automated: {prune: true, selfHeal: true}
retry:
  limit: -1
  backoff: {duration: 5s, factor: 2, maxDuration: 3m}
{{- end }}

{{- /* The metadata that all have, beside the name: the finalizer deletes what the Application has brought. */ -}}
{{- define "root.metadata" -}}
finalizers: [resources-finalizer.argocd.argoproj.io]
annotations:
  argocd.argoproj.io/compare-options: ServerSideDiff=true
{{- end }}

{{- /* The clusters that are delivered to, as JSON. */ -}}
{{- define "root.servers" -}}
{{- $servers := list -}}
{{- range .Values.environments -}}{{- $servers = append $servers .server -}}{{- end -}}
{{- toJson (uniq $servers | default (list "https://kubernetes.default.svc")) -}}
{{- end }}
