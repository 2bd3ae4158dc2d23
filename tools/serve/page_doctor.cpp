#include <algorithm>
#include <string>
#include <vector>

#include "site.hpp"

namespace tool::web {

page doctor_page(const call& asked) {
  std::vector<tableq::finding> all = asked.watched().open().inspect();
  std::stable_sort(all.begin(), all.end(), [](const tableq::finding& a, const tableq::finding& b) {
    return a.severity > b.severity;
  });
  page out{
      .title = "Doctor",
      .body = html(R"(<h1>Doctor <span class="kind">{}</span></h1>)", asked.watched().label())};
  std::size_t fine = 0;
  html list(R"(<ul class="findings">)");
  html good;
  for (const tableq::finding& each : all) {
    const std::string level(to_string(each.severity));
    if (each.severity == tableq::finding::level::ok) {
      ++fine;
      good.put("<li>{}: {}</li>", each.subject, each.what);
      continue;
    }
    list.put(R"(<li class="{}"><span class="mark {}">{}</span> <strong>{}</strong><p>{}</p>)",
             level, level == "problem" ? literal("bad") : literal("warn"), level, each.subject,
             each.what);
    if (!each.fix.empty()) list.put(R"(<p class="fix">{}</p>)", each.fix);
    list.put("</li>");
  }
  list.put("</ul>");
  if (fine == all.size()) {
    out.body.put(R"(<p class="empty">Nothing to mend: {} checks have found nothing.</p>)", fine);
  } else {
    out.body += list;
  }
  out.body.put(R"(<details><summary>{} checks found nothing</summary><ul>{}</ul></details>)", fine,
               good);
  return out;
}

}  // namespace tool::web
