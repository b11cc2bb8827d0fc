// How all places look, as a person likes it: kept under a name in the settings, or in a file to
// pass on.
#pragma once

#include <QJsonObject>
#include <QString>

class QMenu;

namespace strato {

class Centre;
class PlaceDocks;

QJsonObject layout_of(const Centre& centre, const PlaceDocks& docks);
void use_layout(const QJsonObject& layout, Centre& centre, PlaceDocks& docks);

// A file of a layout; throw InputError, which names it.
void write_layout(const QString& file, const QJsonObject& layout);
QJsonObject read_layout(const QString& file);

// What saves and loads them. What fails is told in a box.
void add_layout_actions(QMenu& menu, Centre& centre, PlaceDocks& docks);

}  // namespace strato
