# The works that a hub was rendered to, on two of its clusters, then a change of the hub: what runs differs from the plan.
set -e
cp -r "$FIXTURES/exported/fleet" hub
spokewright render hub -q -o - --clusters 'eu-*' > works.yaml
# Somebody edited works.
sed -i 's/limit: 50$/limit: 60/' works.yaml
cat others.yaml >> works.yaml
# The Gateway of payments leaves eu-2, and a policy is new.
sed -i '/clusterName: eu-2/d' hub/hub/payments/placement.yaml
cp listener.yaml hub/hub/shop
