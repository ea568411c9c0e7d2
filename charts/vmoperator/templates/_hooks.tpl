{{/*
Labels of what a hook makes. Takes root and component, which must not be the operator's: what selects its pods must not find others.
*/}}
{{- define "vmoperator.hookLabels" -}}
{{- mustMergeOverwrite (include "vmoperator.labels" .root | fromYaml) (dict "app.kubernetes.io/component" .component) | toYaml -}}
{{- end }}

{{/* The spec of a pod that runs one of the operator's commands to its end. Takes root, component (also the command), name, args and grace. */}}
{{- define "vmoperator.hookPod" -}}
{{- $values := .root.Values -}}
restartPolicy: Never
{{- with concat $values.imagePullSecrets $values.global.imagePullSecrets | uniq }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
serviceAccountName: {{ .name }}
automountServiceAccountToken: true
enableServiceLinks: false
{{- if not $values.hostUsers }}
hostUsers: false
{{- end }}
terminationGracePeriodSeconds: {{ .grace }}
{{- with $values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
securityContext:
  {{- toYaml $values.podSecurityContext | nindent 2 }}
containers:
  - name: {{ .component }}
    image: {{ include "vmoperator.image" .root | quote }}
    imagePullPolicy: {{ $values.image.pullPolicy }}
    args:
      - {{ .component }}
      {{- toYaml .args | nindent 6 }}
    # So that the reason of a failure is also in the pod's status.
    terminationMessagePolicy: FallbackToLogsOnError
    resources:
      {{- toYaml $values.resources | nindent 6 }}
    securityContext:
      {{- toYaml $values.securityContext | nindent 6 }}
{{- with $values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
