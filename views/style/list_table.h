// How tables that are lists of rows look.
#pragma once

class QTableView;

namespace strato::style {

// Rows that are chosen whole, one at a time, with room around the text and without a grid, frame or
// row numbers. Nothing in it is edited.
void as_list(QTableView& table);

}  // namespace strato::style
