// The words of an op query (op_query.h). For its parser only.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/graph/query/op_query.h"

namespace strato {

enum class QueryWord { And, Or, Not, Open, Close, Operator, Text, Quoted, End };

struct QueryToken {
  QueryWord kind = QueryWord::End;
  std::string text;                // without quotes and escapes
  std::size_t at = 0, length = 0;  // in the query's bytes
};

// Ends with an End token. Throws QueryError for a quote without its end and a stray letter.
std::vector<QueryToken> query_tokens(std::string_view text);

// Of ASCII letters.
char lower(char c);
bool equal_without_case(std::string_view a, std::string_view b);

}  // namespace strato
