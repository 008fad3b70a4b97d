# The works of a hub in which some clusters have values of their own, then the hub without them.
set -e
cp -r "$FIXTURES/exported/fleet" hub
cp own.yaml hub/hub/own.yaml
spokewright render hub -q -o - > works.yaml
rm hub/hub/own.yaml
# No overlay can bring an object back.
rm hub/hub/payments/limits.yaml
