"""Exports of shops and tools for customers. All people and orders are invented."""

import json

from core import Item, text

SHOPIFY = '''Handle,Title,Body (HTML),Vendor,Tags,Published,Option1 Name,Option1 Value,Variant SKU,Variant Grams,\
Variant Price,Variant Taxable,Image Src
classic-tee,Classic Tee,"<p>Soft, <b>""organic""</b> cotton.</p>
<ul>
<li>100&nbsp;%</li>
</ul>",Acme,"summer, tee",TRUE,Size,S,0012345,180,19.90,TRUE,https://shop.example.com/tee.jpg?v=1&w=2
classic-tee,,,,,,,M,0012346,190,19.90,TRUE,
classic-tee,,,,,,,L,0012347,200,21.90,TRUE,
gift-card,Gift Card,,Acme,,FALSE,Title,Default Title,GC-1,0,25.00,FALSE,
'''

WOO = '''ID,Type,SKU,Name,Published,"Is featured?","Short description","Regular price",Categories,Images,Parent,Position
44,variable,woo-vneck-tee,"V-Neck T-Shirt",1,1,"This is a variable product.",,"Clothing > Tshirts",\
"https://example.com/a.jpg, https://example.com/b.jpg",,0
45,variation,woo-vneck-tee-red,"V-Neck T-Shirt - Red",1,0,,20,,,id:44,1
46,simple,woo-beanie,"Beanie – warm & “cosy”",0,0,"Line one\\nLine two",18.5,"Clothing > Accessories",,,2
'''

HUBSPOT = '''"Record ID","First Name","Last Name","Email","Phone Number","Create Date","Lifecycle Stage",\
"Marketing contact"
"101","Ann","O'Brien","ann@example.com","+353 1 234 5678","2024-01-05 09:30","lead","true"
"102","José","García Núñez","jose@example.es","+34 600 00 00 00","2023-12-31 23:59","customer","false"
"103","","","info@example.org","=+1-555-0100","2024-02-29 00:00","",""
'''

GOOGLE = '''Name,Given Name,Family Name,Birthday,Notes,Group Membership,E-mail 1 - Type,E-mail 1 - Value,\
Phone 1 - Type,Phone 1 - Value,Address 1 - Formatted
Ann Lee,Ann,Lee,1990-02-28,,* myContacts ::: Friends,* Home,ann@example.com,Mobile,+1 555 0100,"1 Main St
Springfield, IL 62701
US"
Łukasz Żak,Łukasz,Żak,,"Met in Kraków; likes ""żurek""",* myContacts,* Work,lukasz@example.pl ::: l@example.pl,,,
,,,,,,,only-mail@example.com,,,
'''

OUTLOOK = '''"Anrede","Vorname","Nachname","Firma","Straße geschäftlich","Postleitzahl geschäftlich",\
"Ort geschäftlich","Telefon geschäftlich","E-Mail-Adresse","Geburtstag","Privat"
"Frau","Käthe","Größl","Müller & Co. KG","Königsallee 5","01067","Dresden","+49 (351) 123-0","kaethe@example.de",\
"0.0.00","Aus"
"Herr","Jörg","von der Öhe","","Bäckergasse 12 a","40212","Düsseldorf","","joerg@example.de","24.12.1970","Aus"
'''

MAILCHIMP = '''Email Address,First Name,Last Name,MEMBER_RATING,OPTIN_TIME,CONFIRM_TIME,LATITUDE,LONGITUDE,TAGS
ann@example.com,Ann,Lee,5,2024-01-01 10:00:00,2024-01-01 10:00:05,52.5200066,13.404954,"""vip"",""beta"""
bob@example.com,Bob,,2,,2023-11-11 11:11:11,-33.8688,151.2093,
'''

LEXWARE = '''Kundennummer;Firma;Umsatz 2023;Rabatt %;Aktiv;Letzter Kauf
000123;Bäckerei Ährlich;12.345,60;2,5;ja;24.12.2023
000124;Café Zürich;980,00;0;nein;01.02.2023
000125;"Schrauben ""Max"" GmbH; Filiale 2";1.000.000,00;10;ja;31.10.2023
'''

JIRA = '''Summary,Issue key,Issue id,Issue Type,Status,Created,Comment,Comment,Comment
"Crash on ""save"", again",APP-12,10012,Bug,Done,05/Jan/24 9:12 AM,"05/Jan/24 9:30 AM;ann;First line

Third line",06/Jan/24 8:00 AM;bob;ok,
Slow list,APP-13,10013,Story,To Do,06/Jan/24 1:01 PM,,,
'''

AMAZON = '''order-id\torder-item-id\tpurchase-date\tbuyer-name\tsku\tquantity-purchased\titem-price\tship-country
028-1234567-1234567\t12345678901234\t2024-01-05T10:11:12+00:00\tSøren Ågård\tB00-X\t1\t19.99\tDK
028-1234567-1234568\t12345678901235\t2024-01-05T23:59:59+00:00\tZoë "Z" Weiß\tB00-Y\t2\t5.00\tDE
'''

AIRTABLE = '''Name,Notes,Attachments,Done,Due,Estimate,Rating
Write spec,"First
second","spec.pdf (https://example.com/a,b.pdf)",checked,1/31/2024,1:30,3
Ship,,,,2/13/2024,0:05,
'''

PRICES_CH = '''Artikel;Preis CHF;Menge;Verfügbar
Rösti;1'234.50;12;ja
Käse;9.90;1'000;nein
Müesli;12'345'678.05;3;ja
'''

NUMBERS_FR = '''Référence;Désignation;Prix HT;Quantité;Disponible
0001;Fauteuil « Élysée »;1\u202f249,90;3;VRAI
0002;Table basse;12\u202f500,00;12;FAUX
0003;Lampe d'été;89,5;1\u202f000;VRAI
'''

DATES_US = '''Employee,Hired,Left,Salary,Remote
"Lee, Ann",1/13/2020,,"85,000.00",yes
"Smith, Bob",12/1/2019,6/30/2023,"72,500.50",no
"Zhao, Wei",7/4/2021,,"101,250.00",yes
'''

DATES_ISO = '''{"id":1,"name":"Ann","tags":["a","b"],"price":19.9,"active":true,"since":"2024-01-31"}
{"id":2,"name":"Zoë \\u00e9 😀","tags":[],"price":-0.5,"active":false,"since":null}

{"id":"0003","name":"line\\nbreak","address":{"city":"Köln","zip":"01067"}}
'''


def items() -> list[Item]:
    shops = [
        text("shops/shopify-products.csv", SHOPIFY),
        text("shops/shopify-products-crlf.csv", SHOPIFY, newline="\r\n", note="Line breaks in cells are CRLF, too."),
        text("shops/woocommerce.csv", WOO, mark=True),
        text("shops/amazon-orders.txt", AMAZON, delimiter="\t", quote="", encoding="windows-1252",
             reading={"quote": "", "encoding": "windows-1252"}, note="Quotes are ordinary characters."),
        text("shops/prices-swiss.csv", PRICES_CH, delimiter=";", encoding="windows-1252", newline="\r\n",
             types={"Preis CHF": ("number", "."), "Verfügbar": ("boolean", "ja")}),
        text("shops/prices-french.csv", NUMBERS_FR, delimiter=";", mark=True, newline="\r\n", sample=True,
             types={"Prix HT": ("number", ","), "Disponible": ("boolean", "vrai")},
             note="Narrow no-break spaces group digits."),
        text("shops/prices-french-1252.csv", NUMBERS_FR.replace("\u202f", "\u00a0"), delimiter=";",
             encoding="windows-1252", types={"Prix HT": ("number", ",")}, note="No-break spaces group digits."),
        text("crm/hubspot-contacts.csv", HUBSPOT),
        text("crm/google-contacts.csv", GOOGLE, newline="\r\n"),
        text("crm/google-contacts-utf16.csv", GOOGLE, encoding="UTF-16LE", mark=True),
        text("crm/outlook-kontakte.csv", OUTLOOK, encoding="windows-1252", newline="\r\n"),
        text("crm/mailchimp.csv", MAILCHIMP),
        text("crm/lexware.csv", LEXWARE, delimiter=";", encoding="windows-1252", newline="\r\n",
             types={"Umsatz 2023": ("number", ","), "Aktiv": ("boolean", "ja"),
                    "Letzter Kauf": ("date", "%d.%m.%Y")}),
        text("crm/jira-issues.csv", JIRA, note="Three columns of one name, and a blank line within a cell."),
        text("crm/airtable.csv", AIRTABLE, mark=True, types={"Due": ("date", "%m/%d/%Y")}),
        text("crm/staff-us-dates.csv", DATES_US, types={"Hired": ("date", "%m/%d/%Y"), "Salary": ("number", "."),
                                                        "Remote": ("boolean", "yes")}),
        text("crm/events.jsonl", DATES_ISO, kind="jsonl", sample=True),
        text("crm/events-crlf.ndjson", DATES_ISO.rstrip("\n"), kind="jsonl", newline="\r\n"),
        text("crm/events-mark.jsonl", DATES_ISO, kind="jsonl", mark=True),
    ]
    spaced = "".join(json.dumps({"n": number, "text": "x" * number}) + "\n\n" for number in range(1, 21))
    return shops + [text("crm/events-blank-lines.jsonl", "\n  \n" + spaced, kind="jsonl")]
