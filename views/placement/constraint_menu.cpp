#include "views/placement/constraint_menu.h"

#include <QCoreApplication>
#include <QMenu>
#include <algorithm>

#include "views/models/constraint_edits.h"
#include "views/models/strategy_edits.h"
#include "views/style/text.h"

namespace strato {
namespace {

struct DemandWords {
  Q_DECLARE_TR_FUNCTIONS(DemandWords)
};

Constraints constraints_now(const Session& session) {
  return session.constraints() ? *session.constraints() : Constraints();
}

// The devices of the device group that a constraint keeps any of the groups out of, alone in their
// entry.
std::vector<std::size_t> bans_on(DeviceGroupId device_group, const std::vector<GroupId>& groups,
                                 const Session& session) {
  std::vector<std::size_t> numbers;
  const Constraints constraints = constraints_now(session);
  const std::string& name = session.snapshot().problem->cluster->groups()[device_group].name;
  for (const std::size_t number : concerning(groups, session)) {
    const std::size_t place = number - constraints.pins.size();
    if (number < constraints.pins.size() || place >= constraints.forbidden.size()) continue;
    const auto& devices = constraints.forbidden[place].devices;
    if (std::ranges::find(devices, name) != devices.end()) numbers.push_back(number);
  }
  return numbers;
}

void add_ban(QMenu& menu, Session& session, const std::vector<GroupId>& groups,
             DeviceGroupId device_group, const QString& names) {
  const QString device = text(session.snapshot().problem->cluster->groups()[device_group].name);
  const std::vector<std::size_t> bans = bans_on(device_group, groups, session);
  if (bans.empty()) {
    menu.addAction(DemandWords::tr("Never on %1").arg(device), &session,
                   [&session, groups, device_group, names, device] {
                     session.constrain(with_forbidden(constraints_now(session), groups,
                                                      device_group, *session.snapshot().problem),
                                       DemandWords::tr("%1: never on %2").arg(names, device));
                   });
    return;
  }
  menu.addAction(DemandWords::tr("Allow %1 again").arg(device), &session,
                 [&session, bans, names, device] {
                   session.constrain(without(constraints_now(session), bans),
                                     DemandWords::tr("%1: allow %2").arg(names, device));
                 });
}

QString words_of(Role role) {
  switch (role) {
    case Role::Pipeline:
      return DemandWords::tr("Pipelining");
    case Role::Tensor:
      return DemandWords::tr("Tensor Parallelism");
    case Role::Recompute:
      return DemandWords::tr("Recomputation");
    case Role::Sharding:
      return DemandWords::tr("Sharding");
    case Role::Expert:
      return DemandWords::tr("Expert Parallelism");
    case Role::Context:
      return DemandWords::tr("Context Parallelism");
    case Role::Offload:
      return DemandWords::tr("Offload to Host Memory");
  }
  return {};
}

// Each is ticked while it is forbidden to any of the groups.
void add_roles(QMenu& menu, Session& session, const std::vector<GroupId>& groups,
               const QString& names) {
  QMenu* roles = menu.addMenu(DemandWords::tr("Do Without"));
  const std::vector<std::size_t> numbers = concerning(groups, session);
  for (const Role role : {Role::Pipeline, Role::Tensor, Role::Recompute, Role::Sharding,
                          Role::Expert, Role::Context, Role::Offload}) {
    const QString name = words_of(role);
    const bool forbidden = !forbidding(constraints_now(session), numbers, role).empty();
    QAction* action =
        roles->addAction(name, &session, [&session, groups, numbers, role, forbidden, name, names] {
          const Constraints now = constraints_now(session);
          session.constrain(
              forbidden ? with_role_allowed(now, numbers, role)
                        : with_role_forbidden(now, groups, role, *session.snapshot().problem),
              (forbidden ? DemandWords::tr("%1: allow %2") : DemandWords::tr("%1: without %2"))
                  .arg(names, name.toLower()));
        });
    action->setCheckable(true);
    action->setChecked(forbidden);
  }
}

}  // namespace

void add_constraint_actions(QMenu& menu, Session& session, const std::vector<GroupId>& groups,
                            DeviceGroupId device_group) {
  const Snapshot& snapshot = session.snapshot();
  if (!snapshot.problem || groups.empty()) return;
  const QString names = names_of(groups, *snapshot.problem->grouping);
  menu.addSection(DemandWords::tr("Searches keep to"));
  menu.addAction(DemandWords::tr("Keep This Decision"), &session, [&session, groups, names] {
    session.constrain(with_pins(constraints_now(session), groups, session.snapshot()),
                      DemandWords::tr("%1: keep the decision").arg(names));
  });
  if (device_group.valid()) add_ban(menu, session, groups, device_group, names);
  add_roles(menu, session, groups, names);
  QAction* together =
      menu.addAction(DemandWords::tr("Decide Together"), &session, [&session, groups, names] {
        session.constrain(
            with_together(constraints_now(session), groups, *session.snapshot().problem),
            DemandWords::tr("%1: decide together").arg(names));
      });
  together->setEnabled(groups.size() > 1);
  const std::vector<std::size_t> all = concerning(groups, session);
  QAction* clear = menu.addAction(
      DemandWords::tr("Lift What Is Demanded of %1").arg(names), &session, [&session, all, names] {
        session.constrain(without(constraints_now(session), all),
                          DemandWords::tr("%1: lift demands").arg(names));
      });
  clear->setEnabled(!all.empty());
}

}  // namespace strato
