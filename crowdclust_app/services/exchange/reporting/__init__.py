"""A campaign as a report that can stand beside a paper: what was done, what came out, and how far it can be trusted."""

from crowdclust_app.services.exchange.reporting.contents import campaign_report, write_html_report

__all__ = ["campaign_report", "write_html_report"]
